import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSpanFile } from "./span-file.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-spans-"));
  file = join(folder, "tasks.db.spans");
});
afterEach(() => rmSync(folder, { recursive: true }));

const id = (number: number): string => number.toString(16).padStart(16, "0");
const begun = (number: number): string =>
  `{"traceId":"${"a".repeat(32)}","spanId":"${id(number)}","startTimeUnixNano":"5000","attributes":[]}`;
const ended = (number: number): string =>
  begun(number).replace('"attributes"', '"endTimeUnixNano":"9000","attributes"');

/** What the next process sends, as numbers; the process before was killed. */
function recovered(): readonly number[] {
  const { recovered: spans } = openSpanFile(file, SILENT);
  return spans.map((span) => Number.parseInt(JSON.parse(span).spanId, 16));
}

describe("the file of spans", () => {
  it("has what was not sent after a kill: ended spans in their order, then those that had not ended", () => {
    const spool = openSpanFile(file, SILENT);
    spool.began(id(1), begun(1));
    for (const number of [2, 3, 4]) spool.ended(id(number), ended(number));
    spool.sent(2);
    spool.ended(id(5), ended(5));
    spool.flush();
    expect(recovered()).toEqual([4, 5, 1]);
    // The next process was killed before it sent anything.
    expect(recovered()).toEqual([4, 5, 1]);
  });

  it("is empty once everything was sent", () => {
    const spool = openSpanFile(file, SILENT);
    spool.began(id(1), begun(1));
    spool.ended(id(1), ended(1));
    spool.flush();
    spool.sent(1);
    expect(readFileSync(file, "utf8")).toBe("");
    spool.ended(id(2), ended(2));
    spool.flush();
    expect(recovered()).toEqual([2]);
  });

  it("does not have a span that was dropped", () => {
    const spool = openSpanFile(file, SILENT);
    spool.began(id(1), begun(1));
    spool.forget(id(1));
    spool.flush();
    expect(recovered()).toEqual([]);
  });

  it("does not grow without limit while the collector is away", () => {
    const spool = openSpanFile(file, SILENT);
    spool.ended(id(1), ended(1));
    for (let number = 2; number < 60_000; number += 1) {
      spool.began(id(number), begun(number));
      spool.forget(id(number));
      if (number % 100 === 0) spool.flush();
    }
    expect(statSync(file).size).toBeLessThan(5_000_000);
    expect(recovered()).toEqual([1]);
  });

  it("ignores a last line that was not written whole", () => {
    writeFileSync(file, `${ended(1)}\n${ended(2).slice(0, 60)}`);
    expect(recovered()).toEqual([1]);
  });

  it("is given up with one warning when it cannot be written", () => {
    const warnings: string[] = [];
    const spool = openSpanFile(file, { ...SILENT, warn: (message: string) => void warnings.push(message) });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    spool.ended(id(1), ended(1).padEnd(9_000_000));
    spool.flush();
    spool.ended(id(2), ended(2));
    spool.flush();
    expect(warnings).toEqual([expect.stringContaining("cannot be written")]);
  });
});
