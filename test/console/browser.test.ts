import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "palaver";
import { connect } from "palaver/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { demoAgents } from "../../src/demo/agents.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { launchBrowser } from "../browser/web-page.ts";
import { IS_FULL, sampled } from "../fixtures/budget.ts";
import { called, hostile, order, patient } from "./agents.ts";
import {
  accessibilityProblems,
  drawn,
  keepPicture,
  overflowProblems,
  shrinkToPhone,
  type WatchedPage,
  watch,
} from "./console-page.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";
const AGENTS = [...demoAgents, order, patient, hostile, ...called];

/** The first two cover both themes and both sizes. */
const SCREENS = [
  ["desktop-light", { theme: "light" }],
  ["phone-dark", { theme: "dark", width: 390, height: 844 }],
  ["desktop-dark", { theme: "dark" }],
  ["phone-light", { theme: "light", width: 390, height: 844 }],
] as const;

const PHONE = { width: 390, height: 844 };

/** Pages, and an element that is there once they are complete. */
const PAGES = [
  ["", ".tile .about"],
  ["agents/order", ".skill"],
  ["agents/echo/chat?wire=1", ".composer"],
  ["tasks", ".tasks .title"],
  ["inbox", ".inbox-list a"],
  ["webhooks", ".sentence"],
  ["server", ".chart"],
  ["nothing-here", ".empty"],
] as const;

describe.skipIf(chromium === undefined && !mustRun)("the console in a browser", () => {
  let browser: Browser;
  let folder: string;
  let server: Server;
  let url: string;
  let consoleUrl: string;
  let watched: WatchedPage[] = [];

  const start = async (port: number): Promise<void> => {
    const store = `sqlite:${join(folder, "console.db")}`;
    server = createServer(AGENTS, { port, store, drainTimeout: 0, cancelGrace: 50, logger: SILENT_LOGGER });
    ({ url, consoleUrl = "" } = await server.listen());
  };
  /** A page of the console that is signed in. */
  const open = async (path = "", options: Parameters<typeof watch>[2] = {}): Promise<Page> => {
    const { hash } = new URL(consoleUrl);
    const opened = await watch(browser, `${url}/console/${path}${hash}`, options);
    watched.push(opened);
    return opened.page;
  };

  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    folder = await mkdtemp(join(tmpdir(), "palaver-console-"));
    browser = await launchBrowser(chromium);
    await start(0);
    // Something to see on every page: a question, an answer, and a task at work.
    for (const id of ["booking", "echo", "patient"])
      await (await connect(`${url}/agents/${id}`)).send("Hello", { wait: false });
  });
  afterEach(async () => {
    const faults = watched.flatMap((each) => each.faults);
    await Promise.all(watched.map(({ page }) => page.context().close()));
    watched = [];
    if (faults.length > 0) throw new Error(`The page had faults:\n${faults.join("\n")}`);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("opens with the start-up URL, removes the code from the address, and stays signed in after a reload", async () => {
    const page = await open();
    await page.getByRole("heading", { name: "Countdown" }).waitFor();
    expect(page.url()).toBe(`${url}/console/`);
    const figures = page.locator(".tile", { hasText: "Table booking" }).locator("footer");
    await expect.poll(() => figures.textContent()).toMatch(/1\s*waiting/);
    await page.reload();
    await page.getByRole("heading", { name: "Countdown" }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it("says where the start-up URL is without a code, and opens with the token of the operator and with no other", async () => {
    const opened = await watch(browser, `${url}/`);
    const { page } = opened;
    await page.getByRole("heading", { name: /start-up URL/ }).waitFor();
    expect(page.url()).toBe(`${url}/console/`);
    await page.getByLabel(/token of the operator/).fill("wrong-token-wrong-token");
    await page.getByRole("button", { name: "Open the console" }).click();
    await page.getByRole("heading", { name: /start-up URL/ }).waitFor();
    const file = JSON.parse(await readFile(join(folder, "console.db.operator.json"), "utf8")) as {
      readonly token: string;
    };
    await page.getByLabel(/token of the operator/).fill(file.token);
    await page.getByRole("button", { name: "Open the console" }).click();
    await page.getByRole("heading", { name: "Countdown" }).waitFor();
    await page.context().close();
    // A refused request is an error in the browser's console, and here it must be one.
    expect(opened.faults).not.toEqual([]);
    expect(opened.faults.filter((fault) => !fault.includes("401"))).toEqual([]);
  });

  it("sends an example by one click, and shows the streamed answer", async () => {
    const page = await open("", PHONE);
    await page.getByRole("link", { name: "Hello", exact: true }).click();
    await page.locator(".turn.agent .state.completed").waitFor();
    expect(await page.locator(".turn.agent .prose").textContent()).toBe("Hello");
    await page.waitForURL(/\/console\/agents\/echo\/chat\/[\w-]+$/);
  });

  it("does not send anything because of a link from elsewhere", async () => {
    const page = await open("agents/echo/chat?say=from%20elsewhere");
    await page.getByLabel("Message to Echo").waitFor();
    await drawn(page);
    expect(await page.getByLabel("Message to Echo").inputValue()).toBe("from elsewhere");
    expect(await page.locator(".turn").count()).toBe(0);
  });

  it("keeps a conversation over several turns, in one context, also after a reload", async () => {
    const page = await open("agents/booking/chat", PHONE);
    await say(page, "Table booking", "I would like to book a table");
    for (const [asked, answer] of [
      ["For how many people?", "4"],
      ["For which day?", "2031-05-17"],
      ["Shall I book it?", "yes"],
    ] as const) {
      // Each question has a form of its own: what is typed into the one before it is gone.
      const question = page.locator("section.question", { hasText: asked });
      await question.locator("input").fill(answer);
      await question.getByRole("button", { name: "Answer" }).click();
    }
    await page.getByText(/Booked: table for 4/).waitFor();
    expect(await page.locator(".turn.user").count()).toBe(4);
    await page.reload();
    await page.getByText(/Booked: table for 4/).waitFor();
    expect(await page.locator(".turn.user").count()).toBe(4);
  });

  it("makes a form of the schema of a question: names what is wrong, then sends data", async () => {
    const page = await open("agents/order/chat", PHONE);
    await say(page, "Order desk", "Order some metal");
    const form = page.locator("section.question");
    await form.getByLabel("Tonnes").fill("900");
    await form.getByLabel("Mail").fill("ada@example.org");
    await form.getByRole("button", { name: "Answer", exact: true }).click();
    await form.getByText("must be at most 500").waitFor();
    expect(await form.getByText("choose at least 1").count()).toBe(1);
    await keepPicture(page, "chat-form");
    await form.getByLabel("Tonnes").fill("40");
    await form.getByLabel("South").check();
    await form.getByRole("button", { name: "Answer", exact: true }).click();
    await page.locator(".turn.agent .state.completed").waitFor();
    const json = await page.locator(".part .json").textContent();
    expect(json).toMatch(/tonnes: 40[\s\S]*mail: "ada@example.org"[\s\S]*"South"/);
    expect(await page.locator(".prose a").getAttribute("href")).toBe("https://example.org/list");
  });

  it("sends files and shows the files of the answer, which can be downloaded", async () => {
    const page = await open("agents/files/chat", PHONE);
    const files = { name: "größe.txt", mimeType: "text/plain", buffer: Buffer.from("größer 🌊") };
    await page.locator("input[type=file]").setInputFiles(files);
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".part").getByText("GRÖSSER 🌊").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download SHA256SUMS" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("SHA256SUMS");
  });

  it("stops a running task", async () => {
    const page = await open("agents/patient/chat", PHONE);
    await say(page, "Patient", "Work");
    await page.getByText("at work").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".turn.agent .state.canceled").waitFor();
  });

  it.each([
    ["0.3 JSONRPC", "desktop", {}],
    ["1.0 HTTP+JSON", "phone", PHONE],
  ] as const)("talks over %s, and shows what was sent and how to repeat it: %s", async (dialect, screen, size) => {
    const page = await open(`agents/echo/chat?wire=1&dialect=${encodeURIComponent(dialect)}`, size);
    // On a phone the wire covers the chat.
    if (screen === "phone") await page.getByRole("button", { name: "Close the wire" }).click();
    await say(page, "Echo", "it's me");
    await page.locator(".turn.agent .state.completed").waitFor();
    if (screen === "phone") await page.getByRole("button", { name: "Wire" }).click();
    const wire = page.getByRole("complementary", { name: "Wire" });
    await wire.getByText(/event/).first().waitFor();
    // The answer has ended, and the wire says so.
    await expect.poll(() => wire.locator(".call > button").last().textContent()).not.toContain("open");
    expect(await overflowProblems(page)).toEqual([]);
    const command = wire.locator("footer pre");
    expect(await command.textContent()).toContain(String.raw`it'\''s me`);
    await wire.getByRole("button", { name: "CLI" }).click();
    expect(await command.textContent()).toContain(String.raw`palaver send 'it'\''s me' -a ${url}/agents/echo/`);
    await wire.getByRole("button", { name: "TypeScript" }).click();
    expect(await command.textContent()).toContain('agent.stream("it\'s me"');
    await wire.getByRole("button", { name: "Copy", exact: true }).click();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toContain("agent.stream(");
    // The client stops reading this answer before the server has closed it.
    if (screen === "phone") return;
    await page.goto(`${url}/console/agents/assistant/chat?wire=1`);
    await say(page, "Assistant", "What is 6 * 7?");
    await page.locator(".turn.agent .state.completed").waitFor();
    await expect.poll(() => wire.locator(".call > button .soft").last().textContent()).toMatch(/^\d+ events$/);
  });

  it("lists the tasks of all agents, filters them, and opens one with its time line and any earlier moment", async () => {
    const page = await open("agents/countdown/chat");
    await say(page, "Countdown", "2");
    await page.locator(".turn.agent .state.completed").waitFor();
    await page.getByRole("link", { name: "Tasks" }).first().click();
    await page.getByLabel("Agent", { exact: true }).selectOption("countdown");
    await page.getByRole("button", { name: /Completed/ }).click();
    await page.waitForURL(/agent=countdown&state=completed/);
    await page.locator(".tasks .title a").first().click();
    await page.getByText("2 1 Lift-off!").waitFor();
    expect(await page.locator(".lane-name").allTextContents()).toEqual(["Runs", "Waits", "Written"]);
    // By keys: to the beginning, then event by event; the artifact is that of then.
    const moment = page.getByRole("slider", { name: "Moment" });
    await moment.focus();
    await page.keyboard.press("Home");
    await page.waitForURL(/at=1$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByText("You see the task as it was then.").waitFor();
    await expect.poll(() => page.locator(".artifacts .prose").textContent()).toBe("2");
    expect(page.url()).toContain("at=3");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain("at=");
    // By dragging from the middle to the left edge.
    const box = (await moment.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(box.x + box.width / 2, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 2, box.y + 8, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.url()).toMatch(/at=[12]$/);
    expect(await shrinkToPhone(page, "task-past")).toEqual([]);
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByRole("button", { name: "Journal" }).click();
    expect(await page.locator(".rows tbody tr").count()).toBe(3);
    expect(await shrinkToPhone(page, "journal")).toEqual([]);
    await page.getByRole("button", { name: "Trace" }).click();
    await page.locator(".trace-line").first().waitFor();
    expect(await page.locator(".span-name").allTextContents()).toEqual([
      ...["CompletedCountdown", "Attempt 1"],
      ...["Wait", "Wait"],
    ]);
    // The same message once more, as a new task.
    await page.getByRole("link", { name: "Run again" }).click();
    await page.locator(".turn.agent .state.completed").waitFor();
    expect(await page.locator(".said").allTextContents()).toEqual(["2"]);
  });

  it("shows the tasks that a task has called, at all levels, and leads to them and back", async () => {
    const sent = await (await connect(`${url}/agents/desk`)).send("deed");
    const id = sent.kind === "task" ? sent.task.id : "";
    const page = await open(`tasks/${id}`);
    await page.getByText("shelf 7: The paper “deed” and shelf 7: The paper “deed”").waitFor();
    const lane = page.locator(".lane", { hasText: "Agents called" });
    await lane.waitFor();
    // Both calls were at the same time: they are below each other.
    const boxes = await Promise.all((await lane.locator(".bar-piece").all()).map((bar) => bar.boundingBox()));
    expect(boxes[1]?.y).toBeGreaterThanOrEqual((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0));
    expect(await page.locator(".event.entry").allTextContents()).toEqual([
      expect.stringMatching(/Called Clerk/),
      expect.stringMatching(/Called Clerk/),
    ]);
    await keepPicture(page, "task-calls");
    await page.getByRole("button", { name: "Trace" }).click();
    await page.locator(".trace-line").nth(5).waitFor();
    const names = (await page.locator(".span-name").allTextContents()).filter((name) => name.startsWith("Completed"));
    expect(names).toEqual(["Desk", "Clerk", "Archive", "Clerk", "Archive"].map((name) => `Completed${name}`));
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "trace-calls");
    expect(await shrinkToPhone(page, "trace-calls")).toEqual([]);
    await page.getByRole("button", { name: "Time line" }).click();
    await page.locator(".event.entry a").first().click();
    await page.locator("h1").getByText("deed").waitFor();
    await page.locator(".event.entry", { hasText: "Called Archive" }).waitFor();
    await page.locator(".facts", { hasText: "Called by" }).locator(`a[href$="${id}"]`).click();
    await page.waitForURL(`${url}/console/tasks/${id}`);
  });

  it("cancels a task from its page, whoever sent it", async () => {
    await (await connect(`${url}/agents/patient`)).send("Work", { wait: false });
    const page = await open("tasks?agent=patient&state=working", PHONE);
    await page.locator(".tasks .title a").first().click();
    await page.getByRole("button", { name: "Cancel task" }).click();
    await page.getByRole("button", { name: "Cancel it now" }).click();
    await page.locator("h1 .state.canceled").waitFor();
  });

  it("shows what agents send as text, whatever they send", async () => {
    const page = await open("agents/hostile/chat", PHONE);
    await page.getByLabel(/^Message to Hostile/).fill("attack");
    await page.keyboard.press("Enter");
    await page.locator("section.question").waitFor();
    await keepPicture(page, "hostile");
    const attacked = (): Promise<unknown> => page.evaluate(() => (globalThis as { attacked?: unknown }).attacked);
    expect(await attacked()).toBeUndefined();
    const main = page.locator("main");
    expect(
      await main.locator("script, iframe, object, embed, [onerror], [onload], [onclick], svg[onload]").count(),
    ).toBe(0);
    const links = await main
      .locator("a[href]")
      .evaluateAll((all) => all.map((link) => (link as unknown as { protocol: string }).protocol));
    expect(new Set(links)).toEqual(new Set(["http:", "https:"]));
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /^Download .*exe$/ }).click(),
    ]);
    expect(download.suggestedFilename()).not.toMatch(/[/\\<>\u202e]/);
    for (const path of ["", "agents/hostile", "tasks", "inbox"]) {
      await page.goto(`${url}/console/${path}`);
      await page.getByText("onerror").filter({ visible: true }).first().waitFor();
      await drawn(page);
      expect([path, await attacked()]).toEqual([path, undefined]);
    }
  });

  it("says that the server does not answer, and goes on after a restart without a new sign-in", async () => {
    const page = await open("agents/countdown/chat");
    await say(page, "Countdown", "6");
    await page.locator(".turn.agent .prose").getByText(/^6 5/).waitFor();
    const port = Number(new URL(url).port);
    await server.close();
    await page.getByText(/has not answered for/).waitFor();
    await keepPicture(page, "disconnected");
    expect(await shrinkToPhone(page, "disconnected")).toEqual([]);
    await start(port);
    await page.locator(".turn.agent .state.completed").waitFor();
    expect(await page.locator(".turn.agent .prose").textContent()).toBe("6 5 4 3 2 1 Lift-off!");
    await page.getByText(/has not answered for/).waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  });

  it.each(SCREENS.slice(0, sampled(2, SCREENS.length)))(
    "every page is accessible and no page scrolls sideways: %s",
    async (name, options) => {
      const page = await open("", options);
      await page.getByRole("heading", { name: "Countdown" }).waitFor();
      const problems: string[] = [];
      // In the sample each page is seen on one screen, and each screen shows half of the pages.
      const own = SCREENS.findIndex(([other]) => other === name);
      const pages = PAGES.filter((_, index) => IS_FULL || index % 2 === own);
      for (const [path, ready] of pages) {
        await page.goto(`${url}/console/${path}`);
        await page.locator(ready).first().waitFor();
        await drawn(page);
        await keepPicture(page, `${(path || "agents").replace(/\W+/g, "-")}-${name}`);
        problems.push(...(await accessibilityProblems(page)).map((problem) => `${path}: ${problem}`));
        problems.push(...(await overflowProblems(page)).map((problem) => `${path}: ${problem}`));
      }
      await page.goto(`${url}/console/tasks`);
      await page.locator(".tasks .title a").first().click();
      await page.locator(".time-line, .artifacts .part").first().waitFor();
      for (const view of ["time-line", "trace"]) {
        if (view === "trace") {
          await page.getByRole("button", { name: "Trace" }).click();
          await page.locator(".trace-line").first().waitFor();
        }
        await drawn(page);
        problems.push(...(await accessibilityProblems(page)).map((problem) => `task ${view}: ${problem}`));
        problems.push(...(await overflowProblems(page)).map((problem) => `task ${view}: ${problem}`));
        await keepPicture(page, `task-${view}-${name}`);
      }
      expect(problems).toEqual([]);
    },
    240_000,
  );

  it("can be used by the keyboard: palette, places, skip link", async () => {
    const page = await open();
    await page.getByRole("heading", { name: "Countdown" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or jump to" }).fill("chat order");
    await page.keyboard.press("Enter");
    await page.getByLabel("Message to Order desk").waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForURL(/console\/server/);
    let readings = 0;
    await page.route("**/operator/v1/metrics", (asked) => {
      readings += 1;
      return asked.fulfill({ json: { metrics: metricsOf(readings) } });
    });
    await page.reload();
    await page.getByRole("heading", { name: "Nodes" }).waitFor();
    expect(await page.locator(".chart").count()).toBe(4);
    // The charts show the metrics: what was measured between two readings, and the latest delay.
    await page.getByRole("img", { name: "Commit: 7 ms on average, highest 7" }).waitFor();
    await page.getByRole("img", { name: "Event loop: 42 ms, slowest 1 %, highest 42" }).waitFor();
    expect(await page.locator(".chart", { hasText: "Calls" }).locator("strong").textContent()).toMatch(/^[1-9]/);
    await page.getByText(/\d+\ss left/).waitFor();
    for (const words of ["nothing is queued", "Tasks running or queued", "Open streams"])
      expect(await page.locator("main").textContent()).toContain(words);
    await page.keyboard.press("Tab");
    expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Skip to the page");
  });
});

/** Metrics of a server that makes 100 calls and 10 commits of 7 ms between two readings. */
function metricsOf(readings: number): readonly object[] {
  const delay = { labels: { percentile: "99" }, value: 0.042 };
  return [
    { name: "palaver_calls_total", values: [{ labels: {}, value: 100 * readings }] },
    {
      name: "palaver_commit_duration_seconds",
      values: [{ labels: {}, sum: 0.07 * readings, count: 10 * readings }],
    },
    { name: "palaver_event_loop_delay_seconds", values: [delay] },
  ];
}

async function say(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel(`Message to ${name}`).fill(text);
  await page.keyboard.press("Enter");
}
