import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { type Agent, createServer, type Server } from "palaver";
import { connect } from "palaver/client";
import { processAgent } from "palaver/process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../src/testing/temporary-folder.ts";
import { codeBlocks } from "../docs/code-blocks.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const LANGUAGES = [
  { language: "bash", file: "agent.sh", command: "bash" },
  { language: "python", file: "agent.py", command: pythonProgram() },
  { language: "js", file: "agent.mjs", command: process.execPath },
] as const;

/** The program itself: what is in `PATH` may be a script that looks for it. */
function pythonProgram(): string {
  return execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

/** Streams a text and then waits, or ends with the exit code 3 if the message says so. */
const WAITING: Readonly<Record<string, string>> = {
  bash: `read -r start; echo '{"text":"Half."}'; case "$start" in *crash*) exit 3;; esac; sleep 60`,
  python: `import sys, time
start = sys.stdin.readline()
print('{"text":"Half."}', flush=True)
if "crash" in start: sys.exit(3)
time.sleep(60)`,
  js: `process.stdin.once("data", (start) => {
  console.log('{"text":"Half."}');
  if (String(start).includes("crash")) process.exit(3);
});
setTimeout(() => {}, 60_000);`,
};

const DIALECTS = [
  { version: "1.0", binding: "JSONRPC" },
  { version: "1.0", binding: "HTTP+JSON" },
  { version: "0.3", binding: "JSONRPC" },
] as const;

describe.each(LANGUAGES)("a program in $language", ({ language, file, command }) => {
  const [block] = codeBlocks("docs/guide/processes.md").filter((one) => one.language === language);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: Server;
  let url = "";
  beforeAll(async () => {
    folder = await temporaryFolder();
    mkdirSync(folder.file("work"));
    const program = (id: string, code: string): Agent => {
      writeFileSync(folder.file(`${id}-${file}`), code);
      return processAgent({
        ...{ id, name: id, command, args: [folder.file(`${id}-${file}`)], protocol: "jsonl" },
        ...{ cwd: folder.file("work"), stateFolder: folder.file("state") },
      });
    };
    const agents = [program("example", block?.code ?? ""), program("waiting", WAITING[language] ?? "")];
    server = createServer(agents, { port: 0, store: "memory:", drainTimeout: 0, logger: SILENT });
    ({ url } = await server.listen());
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it.each(DIALECTS)(
    "(the example) asks, sends a file and counts usage for callers of $version $binding",
    async (dialect) => {
      const remote = await connect(`${url}/agents/example/`, dialect);
      const asked: string[] = [];
      const sent = await remote.send("Hi", {
        onInput: ({ text }) => {
          asked.push(text);
          return "Ada";
        },
      });
      if (sent.kind !== "task") throw new Error("The agent answered without a task.");
      const { status, artifacts = [], metadata } = sent.task;
      expect([status.state, asked, metadata?.["usage"]]).toEqual(["completed", ["What is your name?"], { cost: 0.25 }]);
      expect(artifacts.map(({ name, parts }) => [name, ...parts])).toEqual([
        ["result", expect.objectContaining({ text: "Hello, Ada." })],
        ["greeting.txt", expect.objectContaining({ raw: btoa("Hello, Ada.\n"), mediaType: "text/plain" })],
      ]);
    },
  );

  it.each(DIALECTS)("streams, is canceled, and may crash, for callers of $version $binding", async (dialect) => {
    const remote = await connect(`${url}/agents/waiting/`, dialect);
    let taskId = "";
    // The text arrives while the program runs; the stream ends because of the cancel.
    for await (const event of remote.stream("wait")) {
      if (event.kind === "task") taskId = event.task.id;
      if (event.kind === "artifact" && event.artifact.parts[0]?.text === "Half.") await remote.task(taskId).cancel();
    }
    expect((await remote.task(taskId).get()).status.state).toBe("canceled");
    const crashed = await remote.send("crash");
    if (crashed.kind !== "task") throw new Error("The agent answered without a task.");
    expect([crashed.task.status.state, crashed.task.artifacts?.[0]?.parts]).toMatchObject([
      "failed",
      [{ text: "Half." }],
    ]);
    expect(JSON.stringify(crashed.task.status.message)).toContain("exit code 3");
  });
});
