import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DiskFile, type FileChange } from "./disk.ts";
import { readCalls } from "./system-calls.ts";

const write = (offset: number, text: string): FileChange => ({ kind: "write", offset, bytes: Buffer.from(text) });
const never = (): number => 0;
const always = (): number => 0.99;

test("a disk keeps what was synced, and any part of the rest", () => {
  const file = new DiskFile();
  file.add(write(0, "stored"));
  file.add(write(6, " later"));
  file.sync(1);
  expect(file.unsynced).toBe(1);
  expect(file.afterPowerCut(never).toString()).toBe("stored");
  expect(file.afterPowerCut(always).toString()).toBe("stored later");
  file.add({ kind: "truncate", length: 3 });
  expect(file.afterPowerCut(always).toString()).toBe("sto");
});

test("a write may be cut off at a sector", () => {
  const file = new DiskFile();
  file.add(write(0, "x".repeat(1200)));
  const decisions = [0.5, 0.9];
  expect(file.afterPowerCut(() => decisions.shift() ?? 0)).toHaveLength(1024);
});

test("a later write without an earlier one leaves zeros between", () => {
  const file = new DiskFile();
  file.add(write(0, "ab"));
  file.add(write(2, "cd"));
  const decisions = [0, 0.99];
  expect(file.afterPowerCut(() => decisions.shift() ?? 0)).toEqual(Buffer.from("\0\0cd"));
});

test("the calls of a trace are read in order; an fsync has a beginning and an end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palaver-trace-"));
  const hex = (text: string): string =>
    [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const wal = hex(join(folder, "palaver.db-wal"));
  const lines = [
    `7  pwrite64(3<${wal}>, "${hex("ab")}", 2, 32) = 2`,
    `7  fdatasync(3<${wal}> <unfinished ...>`,
    `9  write(4<${hex(join(folder, "answered"))}>, "${hex("done t x\n")}", 9) = 9`,
    `9  write(5<${hex("/elsewhere")}>, "${hex("no")}", 2) = 2`,
    "7  <... fdatasync resumed>)         = 0",
    `7  ftruncate(3<${wal}>, 0) = 0`,
  ];
  try {
    const trace = join(folder, "trace");
    writeFileSync(trace, lines.join("\n"));
    const file = "palaver.db-wal";
    expect(await Array.fromAsync(readCalls(trace, folder))).toEqual([
      { kind: "change", file, change: { kind: "write", offset: 32, bytes: Buffer.from("ab") } },
      { kind: "sync-begins", file, thread: "7" },
      { kind: "answered", line: "done t x" },
      { kind: "sync-ends", file, thread: "7" },
      { kind: "change", file, change: { kind: "truncate", length: 0 } },
    ]);
    writeFileSync(trace, `7  pwritev(3<${wal}>, [{iov_base="x", iov_len=1}], 1, 0) = 1`);
    await expect(Array.fromAsync(readCalls(trace, folder))).rejects.toThrow("Cannot replay this call");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
