// Proves the first minute of a newcomer: clones the repository into an empty folder, runs `npm start`, and sends a message in a real browser. Prints the
// seconds of each step; fails if the whole takes more than 60 seconds. `node scripts/first-minute.ts [REPOSITORY]`; default: this clone.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findChromium } from "./ensure-chromium.mjs";

const LIMIT = 60;
const repository = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const executablePath = findChromium();
if (executablePath === undefined) throw new Error("No Chromium was found.");
const folder = mkdtempSync(join(tmpdir(), "palaver-first-minute-"));
let server: ChildProcess | undefined;
const began = performance.now();
const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);

try {
  const clone = spawn("git", ["clone", "--quiet", "--depth", "1", `file://${repository}`, folder], {
    stdio: "inherit",
  });
  await once(clone, "exit");
  if (clone.exitCode !== 0) throw new Error("The repository could not be cloned.");
  console.log(`${seconds()} s: cloned`);
  const consoleUrl = await start();
  console.log(`${seconds()} s: the server listens`);
  await talk(consoleUrl);
  console.log(`${seconds()} s: a message was answered in the browser`);
  if (performance.now() - began > LIMIT * 1000) {
    console.log(`That is more than ${LIMIT} s.`);
    process.exitCode = 1;
  }
} finally {
  // The whole group: npm and the server that it started.
  if (server?.pid !== undefined) process.kill(-server.pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** `npm start` with a free port, in an environment without the tools of this clone. Resolves with the URL of the console. */
function start(): Promise<string> {
  const path = (process.env["PATH"] ?? "").split(":").filter((entry) => !entry.includes("node_modules"));
  const child = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: folder,
    env: { ...process.env, PATH: path.join(":") },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  server = child;
  let printed = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const [url] = /http:\S+\/console\/#[\w-]+/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`npm start ended:\n${printed}`)));
  });
}

/** Clicks an example, as a newcomer does, and waits for the answer. */
async function talk(consoleUrl: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: findChromium() ?? "",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(consoleUrl);
    await page.locator(".tile .example").first().click();
    await page.locator(".turn.agent .state.completed").waitFor();
  } finally {
    await browser.close();
  }
}
