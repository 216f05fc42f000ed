import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "palaver";
import { connect } from "palaver/client";
import { processAgent } from "palaver/process";
import { describe, expect, it } from "vitest";
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

const DIALECTS = [
  { version: "1.0", binding: "JSONRPC" },
  { version: "1.0", binding: "HTTP+JSON" },
  { version: "0.3", binding: "JSONRPC" },
] as const;

describe.each(LANGUAGES)("the example in $language", ({ language, file, command }) => {
  const [block] = codeBlocks("docs/guide/processes.md").filter((one) => one.language === language);

  it.each(DIALECTS)(
    "asks, streams, sends a file and counts usage for callers of $version $binding",
    async (dialect) => {
      await using folder = await temporaryFolder();
      mkdirSync(folder.file("work"));
      writeFileSync(folder.file(file), block?.code ?? "");
      const agent = processAgent({
        name: "Example",
        command,
        args: [folder.file(file)],
        cwd: folder.file("work"),
        stateFolder: folder.file("state"),
        protocol: "jsonl",
      });
      const server = createServer(agent, { port: 0, store: "memory:", drainTimeout: 0, logger: SILENT });
      try {
        const { url } = await server.listen();
        const remote = await connect(url, dialect);
        const asked: string[] = [];
        const sent = await remote.send("Hi", {
          onInput: ({ text }) => {
            asked.push(text);
            return "Ada";
          },
        });
        if (sent.kind !== "task") throw new Error("The agent answered without a task.");
        const { status, artifacts = [], metadata } = sent.task;
        expect([status.state, asked, metadata?.["usage"]]).toEqual([
          "completed",
          ["What is your name?"],
          { cost: 0.25 },
        ]);
        expect(artifacts.map(({ name, parts }) => [name, ...parts])).toEqual([
          ["result", expect.objectContaining({ text: "Hello, Ada." })],
          ["greeting.txt", expect.objectContaining({ raw: btoa("Hello, Ada.\n"), mediaType: "text/plain" })],
        ]);
      } finally {
        await server.close();
      }
    },
  );
});
