import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { publishedForm, restore, swapIn } from "../../scripts/published-manifest.mjs";

// Odd spacing and no final line break: what comes back must be the same bytes.
const ORIGINAL = `{ "name": "x",   "exports": {".": "./src/index.ts", "./package.json": "./package.json"},
  "bin": {"x": "./src/cli/main.ts"}, "scripts": {"test": "true"}, "devDependencies": {"y": "1.0.0"}, "dependencies": {"z": "1.0.0"} }`;

describe("the manifest while it is packed", () => {
  let folder: string;
  const manifest = () => readFileSync(join(folder, "package.json"), "utf8");
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-manifest-"));
    writeFileSync(join(folder, "package.json"), ORIGINAL);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("points at built files and drops what only the clone needs", () => {
    expect(JSON.parse(publishedForm(ORIGINAL))).toEqual({
      name: "x",
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
      bin: { x: "./dist/cli/main.js" },
      dependencies: { z: "1.0.0" },
    });
  });

  it("is put back byte for byte, and nothing stays behind", () => {
    swapIn(folder);
    expect(manifest()).toBe(publishedForm(ORIGINAL));
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });

  it("is put back when packing was cut off at any point, and again when packing starts over", () => {
    swapIn(folder);
    swapIn(folder);
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
    // Cut off after the original was put aside and before the manifest was rewritten.
    writeFileSync(join(folder, ".package.json.original"), ORIGINAL);
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
  });

  it("is left alone where somebody edited it meanwhile", () => {
    swapIn(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    expect(restore(folder)).toBe("edited-since");
    expect(manifest()).toBe("{}");
  });

  it("is left alone where nothing was packed", () => {
    expect(restore(folder)).toBe("nothing-aside");
    expect(manifest()).toBe(ORIGINAL);
  });
});
