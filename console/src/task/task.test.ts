import { describe, expect, it } from "vitest";
import type { LogEvent } from "../data/operator-types.ts";
import { addRows, momentAt } from "./task-log.ts";
import { positionOf, timeScale } from "./time-scale.ts";

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
      [1, 1, "status", 1],
      [2, 3, "artifact", 2],
      [4, 4, "artifact", 1],
      [5, 5, "artifact", 1],
      [6, 6, "artifact", 1],
      [7, 7, "status", 1],
    ]);
    expect(rows.at(-1)?.state).toBe("input-required");
  });

  it.each([
    [1, "working", {}],
    [3, "working", { a: "one two " }],
    [5, "working", { a: "one two three", b: "other" }],
    [6, "working", { a: "new", b: "other" }],
    [99, "input-required", { a: "new", b: "other" }],
  ])("as of event %d", (seq, state, texts) => {
    const moment = momentAt(EVENTS, seq);
    expect(moment.state).toBe(state);
    expect(Object.fromEntries(moment.artifacts.map(({ artifactId, parts }) => [artifactId, parts?.[0]?.text]))).toEqual(
      texts,
    );
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
    expect(positions.at(-1)).toBeCloseTo(1);
  });

  it("has a picture for a moment, and none for nothing", () => {
    expect(timeScale([])).toEqual([]);
    expect(positionOf(timeScale([{ start: 5, end: 5 }]), 5)).toBe(0);
  });
});
