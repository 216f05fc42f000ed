import { describe, expect, it } from "vitest";
import type { JournalEntry, LogEvent } from "../data/operator-types.ts";
import { happeningsOf } from "./happenings.ts";
import { workedFor } from "./journal-times.ts";
import { barsOf, rowCount } from "./lane-bars.ts";
import { SeqTimes } from "./seq-times.ts";
import { addChunks, addRows } from "./task-log.ts";
import { positionOf, timeAt, timeScale } from "./time-scale.ts";

const status = (seq: number, state: string): LogEvent => ({
  seq,
  event: { status: { state, timestamp: "2030-01-01T00:00:00Z" } },
});
const begin = (seq: number, id: string, text: string): LogEvent => ({
  seq,
  event: { artifact: { artifactId: id, parts: [{ text }] } },
});
const chunk = (seq: number, id: string, text: string): LogEvent => ({
  seq,
  event: { artifact: { artifactId: id, parts: [{ text }] }, append: true },
});
const EVENTS = [
  status(1, "TASK_STATE_WORKING"),
  begin(2, "a", "one "),
  chunk(3, "a", "two "),
  begin(4, "b", "other"),
  chunk(5, "a", "three"),
  begin(6, "a", "new"),
  status(7, "TASK_STATE_INPUT_REQUIRED"),
];

describe("the log of a task", () => {
  it("has one row for chunks of an artifact in a row, also if they arrive in several pages", () => {
    const rows = addRows(addRows([], EVENTS.slice(0, 2)), EVENTS.slice(2));
    expect(rows.map(({ first, last, kind, chunks }) => [first, last, kind, chunks])).toEqual([
      [1, 1, "status", undefined],
      [2, 3, "artifact", 2],
      [4, 4, "artifact", 1],
      [5, 5, "artifact", 1],
      [6, 6, "artifact", 1],
      [7, 7, "status", undefined],
    ]);
    expect(rows.at(-1)?.state).toBe("input-required");
  });

  it.each([
    [1, {}],
    [3, { a: "one two " }],
    [5, { a: "one two three", b: "other" }],
    [6, { a: "new", b: "other" }],
  ])("has the artifacts as of event %d, however many pages it came in", (seq, texts) => {
    const events = EVENTS.filter((each) => each.seq <= seq);
    for (const cut of [0, 2, 4]) {
      const artifacts = addChunks(addChunks([], events.slice(0, cut)), events.slice(cut));
      expect(Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, parts?.[0]?.text]))).toEqual(
        texts,
      );
    }
  });

  it("keeps the beginning of a long artifact, and says how much is missing", () => {
    const long = "x".repeat(150_000);
    const [artifact] = addChunks([], [begin(1, "a", long), chunk(2, "a", long)]);
    expect([artifact?.parts?.[0]?.text?.length, artifact?.omitted]).toEqual([150_000, 150_000]);
  });
});

describe("what happened", () => {
  it("has events in their order, and between them attempts, crashes and waits by their time", () => {
    const rows = addRows(
      [],
      [status(1, "TASK_STATE_WORKING"), begin(2, "a", "x"), status(3, "TASK_STATE_COMPLETED")],
    ).map((row) => ({ ...row, ...(row.at !== undefined && { at: row.first * 1000 }) }));
    const attempt = (key: string, start: number, end?: number) => ({
      ...{ kind: "attempt" as const, key, turn: 1, attempt: Number(key), node: `node-${key}`, start },
      ...(end !== undefined && { end }),
    });
    const journal = [attempt("1", 900), attempt("2", 2500, 3000)];
    const times = new SeqTimes({ known: [], start: 0, end: { seq: 3, at: 3000 } });
    const items = happeningsOf({ rows, journal, history: [], times, now: 3000 });
    expect(items.map(({ kind }) => kind)).toEqual(["chapter", "row", "row", "crash", "chapter", "row"]);
    expect(items.find(({ kind }) => kind === "crash")).toMatchObject({
      text: expect.stringContaining("node-2 took over"),
    });
  });

  it("has steps, questions, waits, called agents and webhooks, each at its time", () => {
    const kinds = ["step", "question", "wait", "child", "delivery"] as const;
    const journal = kinds.map((kind, index) => ({
      ...{ kind, key: `${kind}:one#1`, turn: 1, attempt: 1, node: "one", outcome: "completed" },
      ...{ start: 10_000 * index, end: 10_000 * index + 5000 },
    }));
    const times = new SeqTimes({ known: [], start: 0, end: { seq: 1, at: 50_000 } });
    const items = happeningsOf({ rows: [], journal, history: [], times, now: 50_000 });
    expect(items.map((item) => [item.kind === "entry" ? item.entry.kind : item.kind, item.at])).toEqual([
      ["step", 0],
      ["wait", 10_000.5],
      ["wait", 20_000.5],
      ["child", 30_000],
      ["delivery", 40_000],
    ]);
  });
});

describe("a task that sleeps again and again", () => {
  const journal = [
    { kind: "attempt" as const, key: "1", turn: 1, attempt: 1, node: "one", start: 0, end: 9000 },
    ...[1000, 4000, 7000].map((start, index) => ({
      ...{ kind: "wait" as const, key: `sleep#${index}`, turn: 1, attempt: 1, node: "one" },
      ...{ start, end: start + 2000, outcome: "completed" },
    })),
  ];

  it("has one line for sleeps that follow each other", () => {
    const times = new SeqTimes({ known: [], start: 0, end: { seq: 1, at: 9000 } });
    const row = { kind: "status" as const, first: 1, last: 1, text: "", at: 6500 };
    const items = happeningsOf({ rows: [row], journal, history: [], times, now: 9000 });
    expect(items.flatMap((item) => (item.kind === "wait" ? [item.text] : [item.kind]))).toEqual([
      ...["chapter", "Slept 2 times, 4.0\u00a0s together", "row", "Slept 2.0\u00a0s"],
    ]);
  });

  it("was at work in the rest of the time", () => {
    expect(workedFor(journal, 9000)).toBe(3000);
  });
});

describe("the times of events", () => {
  it("are evenly spread between known times, and lead back to the same events", () => {
    const times = new SeqTimes({ known: [{ seq: 10, at: 1000 }], start: 0, end: { seq: 20, at: 1100 } });
    expect([0, 5, 10, 15, 20].map((seq) => times.timeOf(seq))).toEqual([0, 500, 1000, 1050, 1100]);
    for (let seq = 0; seq <= 20; seq += 1) expect(times.seqAt(times.timeOf(seq))).toBe(seq);
  });

  it("do not lie where the task did not run", () => {
    const active = [
      { start: 0, end: 100 },
      { start: 9000, end: 9100 },
    ];
    const times = new SeqTimes({ known: [], start: 0, end: { seq: 20, at: 9100 }, active });
    expect([5, 10, 15, 20].map((seq) => times.timeOf(seq))).toEqual([50, 100, 9050, 9100]);
    for (let seq = 0; seq <= 20; seq += 1) expect(times.seqAt(times.timeOf(seq))).toBe(seq);
  });
});

describe("the time scale", () => {
  const hour = 3_600_000;

  it("draws work to scale, and folds a wait of two days to a narrow band", () => {
    const pieces = timeScale([
      { start: 0, end: 60_000 },
      { start: 48 * hour, end: 48 * hour + 60_000 },
    ]);
    expect(pieces.map(({ isFold }) => isFold)).toEqual([false, true, false]);
    const [first, fold, last] = pieces;
    expect((fold?.to ?? 0) - (fold?.from ?? 0)).toBeCloseTo(0.07);
    expect((first?.to ?? 0) - (first?.from ?? 0)).toBeCloseTo((last?.to ?? 0) - (last?.from ?? 0));
    expect(last?.to).toBeCloseTo(1);
  });

  it("does not fold short gaps, and folds at most six", () => {
    expect(
      timeScale([
        { start: 0, end: 1000 },
        { start: 9000, end: 9500 },
      ]).length,
    ).toBe(1);
    const many = Array.from({ length: 20 }, (_, index) => ({ start: index * hour, end: index * hour + 1000 }));
    expect(timeScale(many).filter(({ isFold }) => isFold).length).toBe(6);
  });

  it("finds positions in order, within the picture", () => {
    const pieces = timeScale([
      { start: 0, end: 60_000 },
      { start: 48 * hour, end: 48 * hour + 60_000 },
    ]);
    const positions = [-5, 0, 30_000, 60_000, hour, 48 * hour, 48 * hour + 60_000, 99 * hour].map((time) =>
      positionOf(pieces, time),
    );
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions[0]).toBe(0);
    for (const time of [0, 30_000, 48 * hour + 1000])
      expect(timeAt(pieces, positionOf(pieces, time))).toBeCloseTo(time, -1);
    expect(positions.at(-1)).toBeCloseTo(1);
  });

  it("has a picture for a moment, and none for nothing", () => {
    expect(timeScale([])).toEqual([]);
    expect(positionOf(timeScale([{ start: 5, end: 5 }]), 5)).toBe(0);
  });
});

describe("a lane of the time line", () => {
  const call = (key: string, start: number, end: number): JournalEntry => ({
    ...{ kind: "child", key, turn: 1, attempt: 1, node: "one", start, end },
  });
  const placed = (journal: readonly JournalEntry[]): readonly (readonly [string, number, number])[] => {
    const pieces = timeScale([{ start: 0, end: 1000 }], new Set());
    return barsOf("child", { journal, pieces, end: ({ end = 0 }) => end }).map(
      ({ entry, row, count }) => [entry.key, row, count] as const,
    );
  };

  it("shows calls of the same time below each other, and later ones in the first free row", () => {
    expect(placed([call("b", 100, 500), call("a", 0, 300), call("c", 350, 900), call("d", 600, 700)])).toEqual([
      ["a", 0, 1],
      ["b", 1, 1],
      ["c", 0, 1],
      ["d", 1, 1],
    ]);
  });

  it("has a limited number of rows, and merges what is too narrow", () => {
    const many = Array.from({ length: 50 }, (_, index) => call(`${index}`, index, 900));
    const pieces = timeScale([{ start: 0, end: 1000 }], new Set());
    expect(rowCount(barsOf("child", { journal: many, pieces, end: ({ end = 0 }) => end }))).toBe(6);
    expect(placed([1, 2, 3].map((index) => call(`${index}`, index, index + 1)))).toEqual([["1", 0, 3]]);
  });
});
