import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAgents } from "./load-agents.ts";

const one = (id: string) => `{ id: "${id}", name: "${id}", description: "d", version: "1", run: async () => {} }`;

describe("loading agents", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-modules-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  let count = 0;
  const load = async (...sources: string[]): Promise<string[]> => {
    const files = sources.map((source) => {
      const file = join(folder, `module-${count++}.mjs`);
      writeFileSync(file, source);
      return file;
    });
    return (await loadAgents(files)).map(({ id }) => id);
  };

  it.each([
    ["an agent", `export default ${one("a")}`, ["a"]],
    ["a list", `export default [${one("a")}, ${one("b")}]`, ["a", "b"]],
    ["a function", `export default () => (${one("a")})`, ["a"]],
    ["an async function that returns a list", `export default async () => [${one("a")}]`, ["a"]],
    [
      "named exports",
      `export const x = ${one("x")}; export const y = ${one("y")}; export const other = 1;`,
      ["x", "y"],
    ],
    ["a default and a named export of the same agent", `export const a = ${one("a")}; export default a;`, ["a"]],
    [
      "an agent with only `reply`",
      'export default { id: "r", name: "r", description: "d", version: "1", reply: () => "x" }',
      ["r"],
    ],
  ])("accepts %s", async (_, source, ids) => {
    expect(await load(source)).toEqual(ids);
  });

  it.each([
    [
      "in the order of the file",
      `export const zebra = ${one("zebra")}; export const ant = ${one("ant")};`,
      ["zebra", "ant"],
    ],
    [
      "with the default export first",
      `export const ant = ${one("ant")}; export default ${one("zebra")};`,
      ["zebra", "ant"],
    ],
    [
      "in the order of their declarations, not of the export list",
      `// ant comes later\nconst zebra = ${one("zebra")}; const ant = ${one("ant")}; export { ant, zebra };`,
      ["zebra", "ant"],
    ],
  ])("orders named agents %s", async (_, source, ids) => {
    expect(await load(source)).toEqual(ids);
  });

  it("keeps the order of modules", async () => {
    expect(await load(`export default ${one("z")}`, `export default ${one("a")}`)).toEqual(["z", "a"]);
  });

  it.each([
    ["that is empty", "", /exports no agent \(it exports nothing\)\.\nExport one: export default agent\(/],
    ["with other exports", "export const a = 1; export default {};", /exports no agent \(it exports a, default\)/],
    ["that throws", '\nthrow new Error("no key given")', /could not be loaded: .*no key given\n.*--verbose/],
    ["that does not parse", "export const a = 1;\nexport default {", /could not be loaded: /],
    [
      "that imports a missing module",
      'import "./nowhere.mjs"',
      /Cannot find module .*nowhere[\s\S]*Install the imported package/,
    ],
    [
      "whose function throws",
      'export default () => { throw new Error("not today") }',
      /default export of .* threw.*: not today/,
    ],
  ])("rejects a module %s, with advice in the error", async (_, source, message) => {
    await expect(load(source)).rejects.toThrow(message);
    await expect(load(source)).rejects.toMatchObject({ name: "StartupError", kind: "failed" });
  });

  it("rejects a missing file", async () => {
    await expect(loadAgents(["nowhere/agent.ts"])).rejects.toThrow(
      /There is no module nowhere\/agent\.ts \(looked for .*\)/,
    );
  });
});
