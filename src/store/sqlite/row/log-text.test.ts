import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkEntry, statusEntry, tracedEntry } from "../../../testing/store-operations.ts";
import type { LogEntry } from "../../contract.ts";
import { joinApart, joinEntries, LogPage, splitEntries } from "./log-text.ts";

/** All entries of a text after `after`, up to a budget. */
function split(text: string, after = 0, maxBytes = Number.POSITIVE_INFINITY): readonly LogEntry[] {
  const page = new LogPage(after, maxBytes);
  splitEntries(page, 1, text);
  return page.entries;
}

function bytesOf({ body, note }: LogEntry): number {
  return body.length + (note === undefined ? 0 : note.length + 1);
}

/** Entries in the order of their seq, from 1. `undefined` as span: without a trace. */
const LOG: fc.Arbitrary<readonly LogEntry[]> = fc
  .array(
    fc.record({
      text: fc.string({ unit: "binary" }),
      span: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      note: fc.option(fc.constantFrom('{"e":1}', '{"s":"k"}'), { nil: undefined }),
      kind: fc.constantFrom("status", "chunk", "foreign"),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((items) =>
    items.map(({ text, span, note, kind }, index) => {
      const seq = index + 1;
      const plain = kind === "status" ? statusEntry(seq) : chunkEntry(seq, text, seq > 1);
      // Metadata of an agent may end as that of a span does, or nearly.
      const foreign = { seq, body: `{"metadata":${JSON.stringify({ text, traceId: "0", spanId: "1" })}}` };
      const entry = kind === "foreign" ? foreign : span === undefined ? plain : tracedEntry(plain, span);
      return { ...entry, ...(note !== undefined && { note }) };
    }),
  );

describe("a text of entries", () => {
  test("is read back as it was written, from every seq and within every budget", () => {
    fc.assert(
      fc.property(LOG, fc.integer({ min: 1, max: 600 }), (log, budget) => {
        const text = joinEntries(log);
        for (let after = 0; after <= log.length; after++) {
          const rest = log.slice(after);
          expect(split(text, after)).toEqual(rest);
          let bytes = 0;
          const fitting = rest.filter((entry, index) => {
            bytes += bytesOf(entry);
            return index === 0 || bytes <= budget;
          });
          expect(split(text, after, budget)).toEqual(fitting);
        }
      }),
    );
  });

  test("may be several texts, as rows of the hot log become one segment", () => {
    fc.assert(
      fc.property(LOG, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }), (log, lengths) => {
        const texts: string[] = [];
        for (let from = 0; from < log.length; from += lengths[texts.length - 1] ?? 1)
          texts.push(joinEntries(log.slice(from, from + (lengths[texts.length] ?? 1))));
        const text = texts.join("\n");
        for (let after = 0; after <= log.length; after++) expect(split(text, after)).toEqual(log.slice(after));
      }),
    );
  });

  test("is the same with and without the line that ends the task, which is packed apart", () => {
    fc.assert(
      fc.property(LOG, (log) => {
        const entries = log.slice(0, -1);
        for (const last of log.slice(-1)) {
          const { lines, end } = joinApart(entries, last);
          if (entries.length > 0) expect(split(lines)).toEqual(entries);
          else expect(end).not.toContain("\u0001");
          expect(split(entries.length === 0 ? end : `${lines}\n${end}`)).toEqual(log);
        }
      }),
    );
  });
});

describe("the metadata of a span", () => {
  const first = { ...tracedEntry(statusEntry(1)), note: '{"e":1}' };
  const second = tracedEntry(chunkEntry(2, "a", false));
  const third = { ...tracedEntry(statusEntry(3, "completed")), note: '{"e":1}' };
  const ending = first.body.slice(-87);

  test("is stored once per text", () => {
    const text = joinEntries([first, second, third]);
    expect(text).toBe(
      `${first.body.slice(0, -87)}\u0001${ending}\t{"e":1}\n${second.body.slice(0, -87)}\u0001\n${third.body.slice(0, -87)}\u0001\t{"e":1}`,
    );
    const { lines, end } = joinApart([first, second], third);
    expect(`${lines}\n${end}`).toBe(text);
  });

  test("is stored again when another span continues", () => {
    const other = tracedEntry(chunkEntry(3, "b"), 2);
    const text = joinEntries([first, second, other, tracedEntry(chunkEntry(4, "c"), 2)]);
    expect(text.split('"metadata"')).toHaveLength(3);
  });

  test("stays as it is in a text of one line", () => {
    expect(joinEntries([second])).toBe(second.body);
    expect(joinApart([], third)).toEqual({ lines: "", end: `${third.body}\t{"e":1}` });
  });

  test("that a damaged text does not have is not invented", () => {
    const [, line] = joinEntries([first, second]).split("\n");
    expect(() => split(line ?? "")).toThrow("The stored log is damaged");
  });
});
