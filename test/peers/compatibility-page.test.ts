import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { compatibilityPage, PAGE } from "./compatibility-page.ts";
import { expectedMatrix } from "./expected-matrix.ts";

describe(`the page ${PAGE}`, () => {
  it("lists every client, server, binding and operation as the tests define them (if not: npm run matrix -- --write)", () => {
    expect(readFileSync(join(ROOT, PAGE), "utf8")).toBe(compatibilityPage(expectedMatrix()));
  });

  it("has a unique name for every operation", () => {
    const { clients, servers } = expectedMatrix();
    for (const { title, rows } of [...clients.groups, ...servers.groups]) {
      const names = rows.map(({ operation }) => `${title}: ${operation}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});
