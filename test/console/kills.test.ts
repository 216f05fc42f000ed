import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "palaver/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogEvent } from "../../console/src/data/operator-types.ts";
import type { LogRow } from "../../console/src/data/task-types.ts";
import { addRows } from "../../console/src/task/task-log.ts";
import { bytes, plural } from "../../console/src/text/format.ts";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { ROOT } from "../architecture/imports.ts";
import { launchBrowser } from "../browser/web-page.ts";
import { sampled } from "../fixtures/budget.ts";
import { keepPicture, watch } from "./console-page.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";
const KILLS = sampled(2, 50);
/** Milliseconds; other tests may use the machine too. */
const PATIENCE = 120_000;

interface Row {
  readonly first: number;
  readonly last: number;
  readonly words: string;
}

/** A row of the log as the page shows it. */
function shownRow({ kind, first, last, state, text, chunks = 1, characters = 0 }: LogRow): Row {
  if (kind === "artifact") return { first, last, words: `${text} ${plural(chunks, "chunk")}, ${bytes(characters)}` };
  const name = state === "working" ? "Working" : state === "completed" ? "Completed" : (state ?? "");
  return { first, last, words: `${name}${text === "" ? "" : `: ${text}`}` };
}

describe.skipIf(chromium === undefined && !mustRun)("a page that watches a task while its server is killed", () => {
  let browser: Browser;
  let folder: string;
  let port: number;
  let child: ChildProcess;
  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    browser = await launchBrowser(chromium);
    folder = await mkdtemp(join(tmpdir(), "palaver-console-kills-"));
    port = await freePort();
  });
  afterAll(async () => {
    await browser?.close();
    child?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  /** Resolves with the URL of the console. */
  const start = async (): Promise<string> => {
    const args = ["serve", "test/fixtures/ticking-agent.ts", "--port", `${port}`];
    child = spawn(process.execPath, ["src/cli/main.ts", ...args, "--store", `sqlite:${join(folder, "kills.db")}`], {
      cwd: ROOT,
      env: { ...process.env, TICKING_STOP: join(folder, "stop"), TICKING_PAUSE: `${sampled(20, 150)}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    return new Promise((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        printed += chunk.toString();
        const [url] = /http:\S+\/console\/#[\w-]+/.exec(printed) ?? [];
        if (url !== undefined) resolve(url);
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", read);
      child.once("exit", () => reject(new Error(`The server stopped:\n${printed}`)));
    });
  };

  it(
    `says so, goes on, and its rows equal the log, after ${KILLS} times kill -9`,
    async () => {
      const consoleUrl = await start();
      const url = `http://127.0.0.1:${port}`;
      const sent = await (await connect(`${url}/agents/ticking`)).send("Go", { wait: false });
      const id = sent.kind === "task" ? sent.task.id : "";
      const { hash } = new URL(consoleUrl);
      const { page, faults } = await watch(browser, `${url}/console/tasks/${id}${hash}`);
      await page.locator(".event").first().waitFor();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = await lastSeq(page);
        await expect.poll(() => lastSeq(page), { timeout: PATIENCE, interval: 50 }).toBeGreaterThan(before);
        child.kill("SIGKILL");
        await once(child, "exit");
        await page.getByText("Not connected").waitFor({ timeout: PATIENCE });
        if (kill === 0) await keepPicture(page, "task-disconnected");
        await start();
        await page.getByText("Live", { exact: true }).waitFor({ timeout: PATIENCE });
      }
      await writeFile(join(folder, "stop"), "");
      await page.locator("h1 .state.completed").waitFor({ timeout: PATIENCE });
      const log = await readLog(url, join(folder, "kills.db.operator.json"), id);
      const merged = addRows([], log);
      expect(merged.at(-1)?.last).toBe(log.length);
      // A log with very many rows is shown event by event.
      const rows = (merged.length > 1000 ? log.flatMap((event) => addRows([], [event])) : merged).map(shownRow);
      const shown = await shownRows(page, rows.length);
      expect(shown).toEqual(rows);
      const crashes = await page.locator(".facts").textContent();
      expect(crashes).toMatch(KILLS === 1 ? /1 crash/ : new RegExp(`${KILLS} crashes`));
      await keepPicture(page, "task-after-kills");
      await page.context().close();
      expect(faults).toEqual([]);
    },
    sampled(300_000, 3_600_000),
  );
});

/** The last event that the slider of the page knows. */
async function lastSeq(page: Page): Promise<number> {
  const slider = page.getByRole("slider", { name: "Moment" });
  return (await slider.count()) === 0 ? 0 : Number(await slider.getAttribute("aria-valuemax"));
}

/** An element of the page, as far as it is used here. */
interface EventElement {
  querySelector(selector: string): {
    readonly dataset: { readonly first: string; readonly last: string };
    readonly textContent: string;
  };
}

/** The rows of the list, collected by scrolling: only those in sight are in the page. With very many rows each event is one. */
async function shownRows(page: Page, count: number): Promise<readonly Row[]> {
  const found = new Map<number, Row>();
  const list = page.getByRole("region", { name: "Events" });
  const collect = async (): Promise<void> => {
    const rows = await list.locator(".event:has(button.seq)").evaluateAll((all) =>
      (all as unknown as readonly EventElement[]).map((event) => ({
        ...event.querySelector("button.seq").dataset,
        words: event.querySelector(".cut").textContent,
      })),
    );
    for (const { first, last, words } of rows)
      found.set(Number(first), { first: Number(first), last: Number(last), words });
  };
  await list.evaluate((element) => ((element as unknown as { scrollTop: number }).scrollTop = 0));
  for (let step = 0; step < count && found.size < count; step += 1) {
    await page.waitForTimeout(60);
    await collect();
    await list.evaluate((element) => ((element as unknown as { scrollTop: number }).scrollTop += 400));
  }
  return [...found.values()].sort((a, b) => a.first - b.first);
}

async function readLog(url: string, operatorFile: string, id: string): Promise<readonly LogEvent[]> {
  const { token } = JSON.parse(await readFile(operatorFile, "utf8")) as { readonly token: string };
  const events: LogEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.seq ?? 0;
    const response = await fetch(`${url}/operator/v1/tasks/${id}/events?after=${after}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const page = JSON.parse(await response.text()) as { readonly events: readonly LogEvent[] };
    if (page.events.length === 0) return events;
    events.push(...page.events);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
