// Takes the pictures of the README, docs/images/*.png and dev.svg, from the demonstration agents as they are now: `npm run pictures`. Needs Chromium.
import { spawnSync } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { connect } from "../src/client.ts";
import { demoAgents } from "../src/demo/agents.ts";
import { createServer } from "../src/index.ts";
import { SILENT_LOGGER } from "../src/internal/logger.ts";
import { ensureConsole } from "./build-console.mjs";
import { findChromium } from "./ensure-chromium.mjs";

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), "docs", "images");
const MAX_BYTES = 150 * 1024;
const SIZE = { width: 1180, height: 720 };

/** Each picture: the path of the console, and what to do there until the page shows what it should. */
const PICTURES: Readonly<Record<string, { readonly path: string; readonly show: (page: Page) => Promise<void> }>> = {
  "console-chat.png": {
    path: "agents/assistant/chat",
    async show(page) {
      const message = page.getByLabel(/^Message to Assistant/);
      for (const [text, answer] of [
        ["Remember that I like tea", /1 note now/],
        ["What is 6 * 7?", /result is 42/],
        ["Forget everything", /forget/i],
      ] as const) {
        await message.fill(text);
        await message.press("Enter");
        await page.getByText(answer).last().waitFor();
      }
      // The last one asks for an approval.
      await page
        .getByRole("button", { name: /approve|answer|yes/i })
        .first()
        .waitFor();
    },
  },
  "console-tasks.png": {
    path: "tasks",
    async show(page) {
      await page
        .getByText(/Lift-off|countdown/i)
        .first()
        .waitFor();
    },
  },
};

/** Some tasks for the list: ended, at work, and waiting for a person. */
async function talk(url: string): Promise<void> {
  const agent = (id: string) => connect(`${url}/agents/${id}`);
  for (const text of ["Hello", "How are you?", "Good bye"]) await (await agent("echo")).send(text);
  await (await agent("countdown")).send("2");
  await (await agent("booking")).send("A table, please");
  await (await agent("booking")).send("Dinner for my parents", {
    onInput: ({ text }) => (/many/.test(text) ? "4" : /date|when|day/i.test(text) ? "2031-05-17" : "yes"),
  });
  await (await agent("countdown")).send("600", { wait: false });
  await (await agent("assistant")).send("What is 12 / 5?");
}

async function take(browser: Browser, consoleUrl: string): Promise<void> {
  const { origin, hash } = new URL(consoleUrl);
  for (const [name, { path, show }] of Object.entries(PICTURES)) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: "light", reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`${origin}/console/${path}${hash}`);
    await show(page);
    const file = join(FOLDER, name);
    await page.screenshot({ path: file, animations: "disabled" });
    await context.close();
    const { size } = await stat(file);
    console.log(`docs/images/${name}: ${Math.ceil(size / 1024)} KB`);
    if (size > MAX_BYTES) throw new Error(`${name} is larger than ${MAX_BYTES / 1024} KB: show less on it.`);
  }
}

const executablePath = findChromium();
if (executablePath === undefined) throw new Error("No Chromium found; set CHROMIUM_PATH.");
await ensureConsole();
await mkdir(FOLDER, { recursive: true });
const server = createServer(demoAgents, {
  port: 0,
  store: "memory:",
  drainTimeout: 0,
  cancelGrace: 50,
  logger: SILENT_LOGGER,
});
const { url, consoleUrl } = await server.listen();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  if (consoleUrl === undefined) throw new Error("The server has no console.");
  await talk(url);
  await take(browser, consoleUrl);
} finally {
  await browser.close();
  await server.close();
}
const { status } = spawnSync(process.execPath, [join(import.meta.dirname, "record-dev.ts")], { stdio: "inherit" });
process.exitCode = status ?? 1;
