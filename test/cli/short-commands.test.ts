import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CommandLine } from "./command-line.ts";

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
});
afterEach(() => line.close());

it("palaver send does not load fetch, which takes longer than the call", async () => {
  const { url } = await line.serve(["--demo", "--store", "memory:"]);
  const list = join(line.folder, "loaded.json");
  const preload = join(line.folder, "preload.cjs");
  writeFileSync(
    preload,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(list)}, JSON.stringify(process.moduleLoadList)));`,
  );
  const { code, stdout } = await line.run(["send", "Hello", "-a", url], { NODE_OPTIONS: `--require ${preload}` });
  expect(code).toBe(0);
  expect(stdout).toContain("Hello");
  const loaded: readonly string[] = JSON.parse(readFileSync(list, "utf8"));
  expect(loaded).toContain("NativeModule http");
  expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
});
