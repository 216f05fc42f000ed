import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "palaver/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTypeChecker } from "../../src/cli/dev/type-checker.ts";
import { ROOT } from "../architecture/imports.ts";
import { CommandLine } from "./command-line.ts";

const MAIN = join(ROOT, "src", "cli", "main.ts");

/** Counts until the file `enough` exists. Its words are in a file of their own. */
const AGENT = `
import { existsSync } from "node:fs";
import { agent } from ${JSON.stringify(join(ROOT, "src", "index.ts"))};
import { word } from "./word.ts";

export default agent({
  id: "count", name: "Count", description: "Counts.", version: "1.0.0",
  async *run(task) {
    for (let index = 1; index <= 1000; index++) {
      const said = await task.step("say", () => existsSync("enough") ? "end" : word);
      if (said === "end") return;
      yield \`\${index} \${said} \`;
      await task.sleep(50);
    }
  },
});
`;

describe("palaver dev", () => {
  let line: CommandLine;
  beforeEach(() => {
    line = new CommandLine();
  });
  afterEach(() => line.close());

  it("restarts when a file changes, and a running count goes on with the new word", async () => {
    const file = (name: string): string => join(line.folder, name);
    writeFileSync(file("word.ts"), 'export const word = "apples";\n');
    writeFileSync(file("agent.ts"), AGENT);
    const port = await freePort();
    const server = await line.listen(["dev", "agent.ts", "--no-open"], { PORT: String(port) });
    const agent = await connect(`${server.url}/agents/count`, {
      retry: { baseDelay: 50, maxDelay: 200, reconnects: 100 },
    });
    let text = "";
    for await (const event of agent.stream("go")) {
      if (event.kind !== "artifact") continue;
      text += event.artifact.parts.map((part) => part.text).join("");
      if (text.includes("3 apples") && readFileSync(file("word.ts"), "utf8").includes("apples"))
        writeFileSync(file("word.ts"), 'export const word = "pears";\n');
      if (/\d pears/.test(text) && !existsSync(file("enough"))) writeFileSync(file("enough"), "");
    }
    const numbers = Array.from(text.matchAll(/(\d+) (?:apples|pears)/g), ([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    expect(text).toMatch(/^(?:\d+ apples )+(?:\d+ pears )+$/);
    await agent.send("again");
    const { stdout, stderr } = await server.kill("SIGTERM");
    expect(stderr).toContain("word.ts has changed");
    // The request log has the calls before and after the restart: the stream that was cut, how it went on, and the last call.
    const calls = requestLog(stdout + stderr);
    expect(calls.map(({ operation }) => operation)).toEqual(["stream", expect.any(String), "send"]);
    expect(calls.at(-1)).toMatchObject({ agent: "count", caller: "anonymous", outcome: "ok" });
  });

  it("shows where a module cannot be loaded, and starts once it is fixed", async () => {
    const file = join(line.folder, "agent.ts");
    writeFileSync(join(line.folder, "word.ts"), 'export const word = "x";\n');
    writeFileSync(file, `${AGENT}\nconst = 1;\n`);
    const child = spawn(process.execPath, [MAIN, "dev", "agent.ts", "--no-open"], {
      cwd: line.folder,
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      const output = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
      while (!output.stderr.includes("It starts again when a file changes.")) await once(child.stderr, "data");
      expect(output.stderr).toMatch(/agent\.ts:\d+/);
      writeFileSync(file, AGENT);
      while (!output.stdout.includes("is listening on")) await once(child.stdout, "data");
      expect(output.stderr).toContain("agent.ts has changed");
    } finally {
      const gone = once(child, "close");
      child.kill("SIGTERM");
      await gone;
    }
  });
});

it("notes type errors with file and line, and when they are gone", async () => {
  const line = new CommandLine();
  try {
    const file = join(line.folder, "wrong.ts");
    mkdirSync(join(line.folder, "node_modules"));
    symlinkSync(join(ROOT, "node_modules", "typescript"), join(line.folder, "node_modules", "typescript"));
    writeFileSync(
      join(line.folder, "tsconfig.json"),
      '{ "compilerOptions": { "strict": true, "types": [] }, "files": ["wrong.ts"] }',
    );
    writeFileSync(file, "export const a: string = 1;\n");
    const notes: string[] = [];
    const noted = new EventEmitter();
    const checker = createTypeChecker({
      folder: line.folder,
      note: (text) => {
        notes.push(text);
        noted.emit("note");
      },
    });
    expect(checker).toBeDefined();
    for (const content of [undefined, "export const a: string = '';\n"]) {
      if (content !== undefined) writeFileSync(file, content);
      const next = once(noted, "note");
      checker?.check();
      await next;
    }
    checker?.close();
    expect(notes[0]).toMatch(
      /^wrong\.ts:1:14 type error: Type 'number' is not assignable to type 'string'\. \(TS2322\)$/,
    );
    expect(notes[1]).toBe("The types are correct again.");
    expect(createTypeChecker({ folder: join(line.folder, "node_modules"), note: () => {} })).toBeUndefined();
  } finally {
    await line.close();
  }
});

/** The calls in the request log, which is JSON if it is not on a terminal. */
function requestLog(output: string): readonly Readonly<Record<string, unknown>>[] {
  return output
    .split("\n")
    .filter((text) => text.startsWith("{"))
    .map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
    .filter(({ msg }) => msg === "call");
}

/** A port that is free now, and that the second process can use as well. */
async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
