import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { publishedForm, restore, swapIn } from "../../scripts/published-manifest.mjs";

// Odd spacing and no final line break: restoring must give the same bytes.
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

  it("points to built files, without entries that only the repository needs", () => {
    expect(JSON.parse(publishedForm(ORIGINAL))).toEqual({
      name: "x",
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
      bin: { x: "./dist/cli/main.js" },
      dependencies: { z: "1.0.0" },
    });
  });

  it("is restored byte for byte, and no backup remains", () => {
    swapIn(folder);
    expect(manifest()).toBe(publishedForm(ORIGINAL));
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });

  it("is restored if packing was interrupted at any point, also by the next packing", () => {
    swapIn(folder);
    swapIn(folder);
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
    // Interrupted after the backup and before the manifest was rewritten.
    writeFileSync(join(folder, ".package.json.original"), ORIGINAL);
    expect(restore(folder)).toBe("restored");
    expect(manifest()).toBe(ORIGINAL);
  });

  it("is left unchanged if it was edited meanwhile", () => {
    swapIn(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    expect(restore(folder)).toBe("edited-since");
    expect(manifest()).toBe("{}");
  });

  it("is left unchanged if nothing was packed", () => {
    expect(restore(folder)).toBe("nothing-aside");
    expect(manifest()).toBe(ORIGINAL);
  });
});
