import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { openAuditLog } from "./audit-log.ts";

const entry = { principal: "ada", agent: "echo", operation: "send", outcome: "ok" } as const;
const linesOf = (file: string): readonly Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("An audit log", () => {
  it("has one line per call, in order, and is readable only by its owner", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("audit.jsonl");
    const log = openAuditLog(file, SILENT_LOGGER);
    for (let index = 0; index < 1000; index += 1) log?.record({ ...entry, taskId: `t-${index}` });
    await log?.close();
    const lines = linesOf(file);
    expect(lines.map(({ taskId }) => taskId)).toEqual(Array.from({ length: 1000 }, (_, index) => `t-${index}`));
    expect(lines[0]).toEqual({ time: expect.stringMatching(/^\d{4}-.*Z$/), ...entry, taskId: "t-0" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("escapes line breaks that a caller sends", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("audit.jsonl");
    const log = openAuditLog(file, SILENT_LOGGER);
    log?.record({ ...entry, taskId: 'x"}\n{"principal":"root"' });
    await log?.close();
    expect(linesOf(file)).toHaveLength(1);
  });

  it("continues in a new file after the old one is moved", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("audit.jsonl");
    const log = openAuditLog(file, SILENT_LOGGER);
    log?.record(entry);
    await expect.poll(() => linesOf(file).length).toBe(1);
    renameSync(file, folder.file("audit.1"));
    log?.record(entry);
    await log?.close();
    expect(linesOf(file)).toHaveLength(1);
  });

  it.each([
    ["ASCII", "t".repeat(256)],
    ["three bytes each", "\u20ac".repeat(256)],
  ])(
    "that cannot be written logs one error, uses bounded memory, and later records the number of lost lines (characters: %s)",
    async (_, taskId) => {
      await using folder = await temporaryFolder();
      const file = folder.file("audit.jsonl");
      const errors: string[] = [];
      const logger = { ...SILENT_LOGGER, error: (message: string) => void errors.push(message) };
      const log = openAuditLog(file, logger);
      rmSync(file);
      mkdirSync(file);
      for (let index = 0; index < 30_000; index += 1) {
        log?.record({ ...entry, taskId });
        if (index % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(errors).toEqual(["The audit log cannot be written; calls continue"]);
      rmdirSync(file);
      await log?.close();
      const [notice, ...kept] = linesOf(file);
      expect(notice?.["lost"]).toBe(30_000 - kept.length);
      expect(statSync(file).size).toBeLessThan(4_300_000);
    },
  );

  it("that cannot be opened fails at the start", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("no-such-folder/audit.jsonl");
    expect(() => openAuditLog(file, SILENT_LOGGER)).toThrow(/The audit log .*no-such-folder.* cannot be written/);
  });

  it("may be a function, whose errors do not fail a call", async () => {
    const seen: unknown[] = [];
    const log = openAuditLog((record) => {
      seen.push(record);
      throw new Error("no");
    }, SILENT_LOGGER);
    log?.record(entry);
    await log?.close();
    expect(seen).toEqual([{ time: expect.any(String), ...entry }]);
  });
});
