import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { CommandLine } from "./command-line.ts";

const one = (id: string) => `{ id: "${id}", name: "${id}", description: "d", version: "1", run: async () => "done" }`;

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
  // The manifest that `npm init -y` writes, and this package where `npm install` puts it.
  write("package.json", JSON.stringify({ name: "mine", version: "1.0.0", type: "commonjs" }));
  mkdirSync(join(line.folder, "node_modules"));
  symlinkSync(ROOT, join(line.folder, "node_modules", "palaver"));
});
afterEach(() => line.close());

function write(name: string, content: string): void {
  writeFileSync(join(line.folder, name), content);
}

/** What a Node process without the test runner loads: the names of the agents, or the text of the error. */
async function load(module: string): Promise<readonly string[] | string> {
  const program = join(ROOT, "test", "fixtures", "load-modules.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program, module], { cwd: line.folder });
  return JSON.parse(stdout) as readonly string[] | string;
}

describe("palaver serve in a package of type commonjs", () => {
  it("loads a TypeScript file that uses import and export, and the files it imports", async () => {
    write("name.ts", 'export const name: string = "Greeter";');
    write(
      "agent.ts",
      `import { agent } from "palaver";
       import { name } from "./name.ts";
       export default agent({ name, description: "d", version: "1", run: async () => "Hello" });`,
    );
    const { url } = await line.serve(["agent.ts", "--store", "memory:"]);
    expect(await (await fetch(`${url}/.well-known/agent-card.json`)).json()).toMatchObject({ name: "Greeter" });
  });

  it("loads JavaScript with import and export", async () => {
    write("agent.js", `export default ${one("esm")};`);
    expect(await load("agent.js")).toEqual(["esm"]);
  });

  it("loads CommonJS", async () => {
    write("other.js", `module.exports = ${one("cjs")};`);
    write("agent.js", 'module.exports = require("./other.js");');
    expect(await load("agent.js")).toEqual(["cjs"]);
  });

  it("loads the agents in the order of the file, not of their names", async () => {
    write("agents.ts", `export const zebra = ${one("zebra")};\nexport const ant = ${one("ant")};`);
    expect(await load("agents.ts")).toEqual(["zebra", "ant"]);
  });
});

describe("palaver serve names file and line of", () => {
  it("a module that throws", async () => {
    write("agent.ts", 'const key: string = "";\nif (key === "") throw new Error("no key given");\nexport default {};');
    const { code, stderr } = await line.run(["serve", "agent.ts", "--store", "memory:"], { PORT: "0" });
    expect(stderr).toMatch(/agent\.ts:2:\d+: no key given/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(1);
  });

  it("a default export that throws", async () => {
    write("agent.ts", 'export default () => {\n  throw new Error("not today");\n};');
    expect(await load("agent.ts")).toMatch(/threw at agent\.ts:2:\d+: not today/);
  });

  it.each(["agent.ts", "agent.js"])("a syntax error in %s", async (name) => {
    write(name, "export const a = 1;\nexport default { name: };");
    expect(await load(name)).toMatch(new RegExp(`${name}:2: `));
  });

  it("an enum, and suggests an alternative", async () => {
    write("agent.ts", `export const before = 1;\nenum Color { Red }\nexport default ${one("x")};`);
    expect(await load("agent.ts")).toMatch(/agent\.ts:2: .*enum[\s\S]*as const/);
  });
});
