import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LockEntry, missingOptionals } from "../../scripts/complete-lock.ts";
import { ROOT } from "../architecture/imports.ts";

describe.each([".", "frameworks"])("the lock file in %s", (folder) => {
  const text = readFileSync(join(ROOT, folder, "package-lock.json"), "utf8");
  const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(text);

  it("contains every optional package, so that npm ci accepts it on every platform (if not: node scripts/complete-lock.ts)", () => {
    expect([...missingOptionals(packages).keys()]).toEqual([]);
  });

  it("matches the manifest", () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
    const { dependencies, devDependencies = {}, peerDependencies = {} } = manifest;
    expect({ devDependencies: {}, peerDependencies: {}, ...packages[""] }).toMatchObject({
      dependencies,
      devDependencies,
      peerDependencies,
    });
  });

  it("contains no registry address", () => {
    expect(text).not.toContain('"resolved": "http');
  });
});
