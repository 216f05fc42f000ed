import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { type Profiler, Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Logger } from "../src/index.ts";

const { values: options } = parseArgs({
  options: {
    root: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (options.help) {
  process.stdout.write(`Counts the functions of src/ that one streamed message calls, from socket to socket.

Starts a server with SQLite, warms it up, sends one SendStreamingMessage (JSON-RPC 1.0) to an agent that yields one text, and reads the
coverage of V8. Functions that an idle server calls are left out. The thread that writes to SQLite is not counted.

  --list         print every function with its number of calls, file by file
  --root FOLDER  count in another checkout
`);
  process.exit(0);
}

/** Messages before the one that is counted, so that caches are filled. */
const WARM_UP = 20;
/** Milliseconds that the server idles, to find the functions that its timers call. */
const IDLE = 3000;

const SRC = new URL("src/", pathToFileURL(join(options.root, "/")));
// Safe: the entry point of the checkout has these two exports.
const { agent, createServer } = (await import(new URL("index.ts", SRC).href)) as typeof import("../src/index.ts");

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

interface Called {
  readonly file: string;
  readonly name: string;
  readonly offset: number;
  readonly calls: number;
}

const folder = await mkdtemp(join(tmpdir(), "palaver-walk-"));
const server = createServer(
  agent({
    name: "Walk",
    description: "Answers with one text.",
    version: "1.0.0",
    async *run() {
      yield "Hello";
    },
  }),
  { host: "127.0.0.1", port: 0, store: `sqlite:${join(folder, "walk.db")}`, logger: SILENT },
);
const { port } = await server.listen();
const session = new Session();
session.connect();
try {
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  for (let sent = 0; sent < WARM_UP; sent += 1) await stream();
  // The writer thread, the connection and the run of the last message finish.
  await pause(500);
  await take();
  await pause(IDLE);
  const idle = new Set((await take()).map(keyOf));
  const events = await stream();
  await pause(500);
  const called = (await take()).filter((entry) => !idle.has(keyOf(entry)));
  print(called, events);
} finally {
  session.disconnect();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

/** Sends one message and reads its stream to the end. Returns the number of events. */
function stream(): Promise<number> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "SendStreamingMessage",
    params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Hello" }] } },
  });
  const headers = { "content-type": "application/json", "a2a-version": "1.0", "content-length": body.length };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method: "POST", path: "/", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        if (text.includes("TASK_STATE_COMPLETED")) resolve(text.split("\n\n").length - 1);
        else reject(new Error(`The task did not complete: ${text}`));
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The functions of src/ that were called since the last time. */
async function take(): Promise<readonly Called[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result.filter(({ url }) => url.startsWith(SRC.href)).flatMap(calledIn);
}

function calledIn({ url, functions }: Profiler.ScriptCoverage): readonly Called[] {
  const file = relative(options.root, fileURLToPath(url));
  return functions.flatMap(({ functionName, ranges }) => {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0 || whole.startOffset === 0) return [];
    return [{ file, name: functionName, offset: whole.startOffset, calls: whole.count }];
  });
}

function keyOf({ file, name, offset }: Called): string {
  return `${file} ${name} ${offset}`;
}

function print(called: readonly Called[], events: number): void {
  const files = Map.groupBy(called, ({ file }) => file);
  if (options.list) {
    for (const [file, functions] of [...files].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      process.stdout.write(`${file}\n`);
      for (const { name, calls } of functions)
        process.stdout.write(`  ${calls} × ${name === "" ? "(no name)" : name}\n`);
    }
  }
  const calls = called.reduce((sum, entry) => sum + entry.calls, 0);
  process.stdout.write(
    `${called.length} functions in ${files.size} files, ${calls} calls, for a stream of ${events} events\n`,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
