import { afterEach, expect, test, vi } from "vitest";
import { loadPostgresDriver } from "./driver.ts";

afterEach(() => {
  vi.doUnmock("pg");
  vi.resetModules();
});

test("without the package pg, the error says how to install it", async () => {
  vi.doMock("pg", () => {
    throw new Error("Cannot find package 'pg'");
  });
  await expect(loadPostgresDriver()).rejects.toThrow(
    "PostgreSQL needs the package pg, which is not installed. Install it: npm install pg",
  );
});
