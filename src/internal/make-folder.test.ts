import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "palaver-folder-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("makeFolder", () => {
  test("creates missing parents for their owner only, and does not change existing folders", () => {
    for (const name of ["a/b/c", "a/b/c", "a/b/d/", "."]) makeFolder(join(root, name));
    for (const name of ["a", "a/b", "a/b/c", "a/b/d"]) expect(statSync(join(root, name)).mode & 0o777).toBe(0o700);
  });

  test("throws if the path or a parent is a file or a broken link", () => {
    writeFileSync(join(root, "file"), "");
    symlinkSync(join(root, "nowhere"), join(root, "link"));
    for (const name of ["file", "file/below", "link", "link/below"])
      expect(() => makeFolder(join(root, name))).toThrow();
  });

  test.skipIf(!existsSync("/proc/self"))("throws, and does not hang, in a folder that accepts no folders", () => {
    expect(() => makeFolder("/proc/palaver/data")).toThrow(/palaver/);
  });
});
