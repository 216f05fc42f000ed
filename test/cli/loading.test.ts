import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

async function rootAgent(module: string): Promise<string> {
  const serving = await line.serve([module, "--store", "memory:"]);
  const card = await fetch(`${serving.url}/.well-known/agent-card.json`);
  const { name } = (await card.json()) as { readonly name: string };
  await serving.kill("SIGTERM");
  return name;
}

async function refusal(module: string): Promise<string> {
  const { code, stderr } = await line.run(["serve", module, "--store", "memory:"], { PORT: "0" });
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/^\s+at /m);
  return stderr;
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
    expect(await rootAgent("agent.ts")).toBe("Greeter");
  });

  it("loads JavaScript with import and export", async () => {
    write("agent.js", `export default ${one("esm")};`);
    expect(await rootAgent("agent.js")).toBe("esm");
  });

  it("loads CommonJS", async () => {
    write("other.js", `module.exports = ${one("cjs")};`);
    write("agent.js", 'module.exports = require("./other.js");');
    expect(await rootAgent("agent.js")).toBe("cjs");
  });

  it("serves the first agent of the file at the root, not the first by name", async () => {
    write("agents.ts", `export const zebra = ${one("zebra")};\nexport const ant = ${one("ant")};`);
    expect(await rootAgent("agents.ts")).toBe("zebra");
  });
});

describe("palaver serve names file and line of", () => {
  it("a module that throws", async () => {
    write("agent.ts", 'const key: string = "";\nif (key === "") throw new Error("no key given");\nexport default {};');
    expect(await refusal("agent.ts")).toMatch(/agent\.ts:2:\d+: no key given/);
  });

  it("a default export that throws", async () => {
    write("agent.ts", 'export default () => {\n  throw new Error("not today");\n};');
    expect(await refusal("agent.ts")).toMatch(/threw at agent\.ts:2:\d+: not today/);
  });

  it.each(["agent.ts", "agent.js"])("a syntax error in %s", async (name) => {
    write(name, "export const a = 1;\nexport default { name: };");
    expect(await refusal(name)).toMatch(new RegExp(`${name}:2: `));
  });

  it("an enum, and suggests an alternative", async () => {
    write("agent.ts", `export const before = 1;\nenum Color { Red }\nexport default ${one("x")};`);
    expect(await refusal("agent.ts")).toMatch(/agent\.ts:2: .*enum[\s\S]*as const/);
  });
});
