import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { trackChild } from "../children.ts";
import { milliseconds } from "../format.ts";
import { type Bench, NotMeasurable, type Outcome, type Row, type Scenario } from "../scenario.ts";
import { LONG_TASKS } from "../seed-log.ts";
import { median, summarize } from "../statistics.ts";

/** The console opens a task of 100,000 events, and lists 1,000,000 tasks, in a real browser. */
export const consolePages: Scenario = { name: "console", title: "Console", limitSeconds: [1200, 900], run };

const EVENTS = 100_000;
const OPEN_LIMIT = 500;
const TASK_LIMIT = 100;
const CLICK_LIMIT = 150;

async function run(bench: Bench): Promise<Outcome> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new NotMeasurable("Chromium is not installed.");
  const tasks = bench.quick ? 100_000 : 1_000_000;
  const file = join(bench.folder(), "console.db");
  await ensureConsole();
  bench.progress(`seeding ${tasks.toLocaleString("en")} tasks, and two of ${EVENTS.toLocaleString("en")} events`);
  await runScript(bench, "seed.ts", [file, "0", String(tasks)]);
  await runScript(bench, "seed-log.ts", [file, String(EVENTS)]);
  const server = await serve(bench, file);
  const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const rows: Row[] = [];
    const data: Record<string, unknown> = {};
    bench.progress("opening pages");
    const empty = await opened(browser, server.url, { path: "nothing-here", ready: ".empty", runs: bench.runs });
    rows.push({ work: "An empty page", figure: milliseconds(empty.median) });
    for (const [kind, key] of Object.entries(LONG_TASKS)) {
      const task = await opened(browser, server.url, {
        ...{ path: `tasks/${key}`, ready: ".time-line + .columns .event button.seq, .event button.seq" },
        runs: bench.runs,
        scrolls: true,
      });
      data[kind] = task;
      const ratio = task.median / empty.median;
      rows.push(
        {
          work: `A task of ${EVENTS.toLocaleString("en")} events (${kind}) opens`,
          limit: `≤ ${OPEN_LIMIT} ms`,
          figure: `${milliseconds(task.median)}, ${ratio.toFixed(2)} of an empty page`,
          spread: `${milliseconds(task.min)} – ${milliseconds(task.max)}, first time ${milliseconds(task.first)}`,
          ok: Math.max(task.median, task.first) <= OPEN_LIMIT,
        },
        {
          work: "  longest task of the main thread while it opens and scrolls",
          limit: `≤ ${TASK_LIMIT} ms`,
          figure: `${milliseconds(task.longest)}; empty page ${milliseconds(empty.longest)}`,
          ok: task.longest <= TASK_LIMIT,
        },
      );
    }
    bench.progress("clicking in the list");
    const clicks = await clicked(browser, server.url);
    data["clicks"] = clicks;
    for (const [name, times] of Object.entries(clicks)) {
      const { median: middle, min, max } = summarize(times);
      rows.push({
        work: `${tasks.toLocaleString("en")} tasks: ${name}`,
        limit: `≤ ${CLICK_LIMIT} ms`,
        figure: `${milliseconds(middle)}, ${(middle / empty.median).toFixed(2)} of an empty page`,
        spread: `${milliseconds(min)} – ${milliseconds(max)}`,
        ok: middle <= CLICK_LIMIT,
      });
    }
    const notes = [
      "Times are from the start of the navigation, or from the click, to the picture with the content, measured in the page. The browser runs on the same cores as the server.",
    ];
    return { rows, notes, data: { ...data, empty } };
  } finally {
    await browser.close();
    server.child.kill("SIGKILL");
  }
}

async function runScript(bench: Bench, name: string, args: readonly string[]): Promise<void> {
  const script = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const options = { execArgv: ["--no-warnings"], signal: bench.signal, killSignal: "SIGKILL" as const };
  const [code] = await once(trackChild(fork(script, args, options)), "exit");
  if (code !== 0) throw new Error(`${name} failed.`);
}

interface Serving {
  readonly child: ChildProcess;
  /** The URL of the console with its code. */
  readonly url: string;
}

/** `palaver serve` as users start it. */
function serve(bench: Bench, file: string): Promise<Serving> {
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const args = [main, "serve", "--demo", "--port", "0", "--store", `sqlite:${file}`];
  const child = trackChild(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], signal: bench.signal }));
  let printed = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const [url] = /http:\S+\/console\/#[\w-]+/.exec(printed) ?? [];
      if (url !== undefined) resolve({ child, url });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", () => undefined);
    child.once("exit", () => reject(new Error(`The server stopped: ${printed}`)));
  });
}

interface Opened {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Milliseconds of the longest task of the main thread. */
  readonly longest: number;
  /** Milliseconds of the first time, when the server has not read the task yet. */
  readonly first: number;
}

/** What the page records about itself. */
interface Recorded {
  readyAt?: number;
  longest: number;
}

/** Records when the content is in a picture, and the longest task of the main thread. */
const RECORDER = `(selector) => {
  globalThis.recorded = { longest: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) recorded.longest = Math.max(recorded.longest, duration);
  }).observe({ type: "longtask", buffered: true });
  const check = () => {
    if (document.querySelector(selector) === null) requestAnimationFrame(check);
    else requestAnimationFrame(() => { recorded.readyAt ??= performance.now(); });
  };
  requestAnimationFrame(check);
}`;

interface OpenOptions {
  readonly path: string;
  readonly ready: string;
  readonly runs: number;
  readonly scrolls?: boolean;
}

async function opened(browser: Browser, consoleUrl: string, options: OpenOptions): Promise<Opened> {
  const { path, ready, runs, scrolls = false } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  // Signs in, and fills the browser's cache: what is measured is the page, not the first download.
  await page.goto(consoleUrl);
  await page.locator(".tile").first().waitFor();
  await page.addInitScript(`(${RECORDER})(${JSON.stringify(ready)})`);
  const times: number[] = [];
  let longest = 0;
  let first = 0;
  for (let round = 0; round <= Math.max(3, runs); round += 1) {
    await page.goto(new URL(path, consoleUrl).href);
    // The page's policy allows no functions from text, so that it is asked again and again.
    while ((await page.evaluate<Recorded>("recorded")).readyAt === undefined) await page.waitForTimeout(20);
    if (scrolls) await scroll(page);
    const recorded = await page.evaluate<Recorded>("recorded");
    longest = Math.max(longest, recorded.longest);
    const { readyAt = Number.NaN } = recorded;
    if (round === 0) first = readyAt;
    else times.push(readyAt);
  }
  await context.close();
  return { ...summarize(times), median: median(times), longest, first };
}

/** Through the whole list of events, and to an earlier moment. */
async function scroll(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const list = document.querySelector(".events");
    for (let step = 0; step <= 40; step += 1) {
      list.scrollTop = (list.scrollHeight * step) / 40;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  })()`);
}

const CLICKS: Readonly<Record<string, string>> = {
  "a click on a state":
    '[...document.querySelectorAll(".state-tabs button")].find((b) => b.textContent.includes("Failed"))',
  "a click on another state":
    '[...document.querySelectorAll(".state-tabs button")].find((b) => b.textContent.includes("Rejected"))',
  "a click on Older": '[...document.querySelectorAll(".foot button")].find((b) => b.textContent.includes("Older"))',
};

const JUMP = "a jump to any time";

/** From each click to the picture with other rows. */
async function clicked(browser: Browser, consoleUrl: string): Promise<Readonly<Record<string, readonly number[]>>> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  await page.goto(consoleUrl);
  await page.locator(".tile").first().waitFor();
  const times: Record<string, number[]> = {};
  for (let round = 0; round < 5; round += 1) {
    await page.goto(new URL("tasks", consoleUrl).href);
    await page.locator(".tasks .title").first().waitFor();
    await page.waitForTimeout(500);
    for (const [name, button] of Object.entries(CLICKS)) {
      const ms = await page.evaluate<number>(`new Promise((resolve) => {
        const first = () => document.querySelector(".tasks .title a")?.href;
        const before = first();
        const from = performance.now();
        (${button}).click();
        const check = () => {
          const now = first();
          if (now === undefined || now === before) requestAnimationFrame(check);
          else requestAnimationFrame(() => resolve(performance.now() - from));
        };
        requestAnimationFrame(check);
      })`);
      if (round > 0) times[name] = [...(times[name] ?? []), ms];
      await page.waitForTimeout(200);
    }
    const jump = await page.evaluate<number>(`new Promise((resolve) => {
      const first = () => document.querySelector(".tasks .title a")?.href;
      const before = first();
      const field = document.querySelector(".jump input");
      const from = performance.now();
      field.value = "2026-01-01T12:00:0${round}";
      field.dispatchEvent(new Event("change", { bubbles: true }));
      const check = () => {
        const now = first();
        if (now === undefined || now === before) requestAnimationFrame(check);
        else requestAnimationFrame(() => resolve(performance.now() - from));
      };
      requestAnimationFrame(check);
    })`);
    if (round > 0) times[JUMP] = [...(times[JUMP] ?? []), jump];
  }
  await context.close();
  return times;
}
