import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linesIn, openSpanJournal, readSpanJournal } from "./span-journal.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-journal-"));
  file = join(folder, "spans");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The last three lines are needed. */
function journalOfThree(half: number) {
  const lines: string[] = [];
  const journal = openSpanJournal({ file, half, needed: () => [Buffer.from(lines.slice(-3).join(""))] });
  const append = (line: string): void => {
    lines.push(line);
    journal.append(Buffer.from(line));
  };
  return { journal, append, last: () => lines.slice(-3).join("") };
}

describe("the journal of spans", () => {
  it("has what is needed after every write, and does not get larger than two halves", () => {
    const { append, last } = journalOfThree(500);
    for (let number = 0; number < 200; number += 1) {
      append(`line ${number}\n`);
      expect(readSpanJournal(file).endsWith(last())).toBe(true);
      expect(readFileSync(file).length).toBeLessThanOrEqual(64 + 2 * 500);
    }
  });

  it("has the lines before or after a write that was cut anywhere by a kill", () => {
    const { append } = journalOfThree(500);
    for (let number = 0; number < 60; number += 1) {
      const before = readFileSync(file);
      append(`line ${number}\n`);
      const after = readFileSync(file);
      const whole = [linesIn(before), linesIn(after)];
      for (let cut = 0; cut < after.length; cut += 1) {
        // Bytes are written from the first to the last.
        const found = linesIn(Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
        if (!whole.includes(found)) expect(found).toBe(whole[0]);
      }
    }
  });

  it("has nothing once it is cleared, and keeps the bytes of the file for the next lines", () => {
    const { journal, append } = journalOfThree(500);
    for (let number = 0; number < 60; number += 1) append(`line ${number}\n`);
    const { length } = readFileSync(file);
    journal.clear();
    expect(readSpanJournal(file)).toBe("");
    expect(readFileSync(file)).toHaveLength(length);
    append("next\n");
    expect(readSpanJournal(file)).toBe("next\n");
  });

  it("gets larger halves when more is needed", () => {
    const lines: Buffer[] = [];
    const journal = openSpanJournal({ file, half: 500, needed: () => lines });
    for (let number = 0; number < 100; number += 1) {
      const line = Buffer.from(`line ${number}\n`);
      lines.push(line);
      journal.append(line);
    }
    expect(readSpanJournal(file)).toBe(lines.join(""));
    expect(existsSync(`${file}.new`)).toBe(false);
  });

  it("reads the lines of a file of an earlier release, and nothing where there is no file", () => {
    expect(readSpanJournal(file)).toBe("");
    writeFileSync(file, "one\ntwo\n");
    expect(readSpanJournal(file)).toBe("one\ntwo\n");
  });
});
