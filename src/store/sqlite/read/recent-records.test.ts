import { expect, test } from "vitest";
import { contextId, headOf, SCOPE, START, taskId } from "../../../testing/store-operations.ts";
import type { TaskRecord } from "../../contract.ts";
import { RecentRecords } from "./recent-records.ts";

const WHOLE = { artifacts: true };

function record(n: number, details: Partial<TaskRecord> = {}): TaskRecord {
  return {
    ...{ id: taskId(n), contextId: contextId(n), scope: SCOPE, dialect: "any", createdAt: START },
    ...{ head: headOf("completed"), seq: 2, firstSeq: 1, epoch: 1, history: [], artifacts: "[]" },
    ...details,
  };
}

/** The record after it was read twice. */
function read(recent: RecentRecords, of: TaskRecord): TaskRecord | undefined {
  recent.add(of, WHOLE);
  recent.add(of, WHOLE);
  return recent.get(of.id, WHOLE);
}

test("keeps a finished task from its second read on", () => {
  const recent = new RecentRecords();
  const first = record(1);
  recent.add(first, WHOLE);
  expect(recent.get(first.id, WHOLE)).toBeUndefined();
  recent.add(first, WHOLE);
  expect(recent.get(first.id, WHOLE)).toBe(first);
  expect(recent.get(first.id, { artifacts: true, upTo: 1 })).toBeUndefined();
  expect(recent.get(first.id, { artifacts: true, largeBytes: 10 })).toBeUndefined();
  recent.clear();
  expect(recent.get(first.id, WHOLE)).toBeUndefined();
});

test("keeps no task that can still change, and none over 64 KB", () => {
  const recent = new RecentRecords();
  const { artifacts: _artifacts, ...withoutArtifacts } = record(3);
  expect(read(recent, record(1, { head: headOf("working") }))).toBeUndefined();
  expect(read(recent, record(2, { artifacts: `["${"x".repeat(40_000)}"]` }))).toBeUndefined();
  expect(read(recent, withoutArtifacts)).toBeUndefined();
});

test("forgets the oldest tasks beyond 8 MB", () => {
  const recent = new RecentRecords();
  // A character counts 2 bytes: 400 tasks of 60 KB are 24 MB, of which 133 fit.
  const tasks = Array.from({ length: 400 }, (_, n) => record(n, { artifacts: `["${"x".repeat(29_000)}"]` }));
  for (const task of tasks) read(recent, task);
  const kept = tasks.filter(({ id }) => recent.get(id, WHOLE) !== undefined);
  expect(kept.length).toBeGreaterThan(100);
  expect(kept.length).toBeLessThan(140);
  expect(kept.at(-1)).toBe(tasks.at(-1));
});

test("keeps nearly all of 1,000 tasks that callers read in turn", () => {
  const recent = new RecentRecords();
  const tasks = Array.from({ length: 1000 }, (_, n) => record(n));
  for (let turn = 0; turn < 12; turn++)
    for (const task of tasks) if (recent.get(task.id, WHOLE) === undefined) recent.add(task, WHOLE);
  const missing = tasks.filter(({ id }) => recent.get(id, WHOLE) === undefined);
  expect(missing.length).toBeLessThan(20);
});
