import { expect, test } from "vitest";
import { type RunnerRecord, readRunner, writeLastRunner, writeRunner } from "./runner-record.ts";

const RUNNER: RunnerRecord = { attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 0, bytes: 10 };

test("consumedSealed is stored under the name that earlier releases wrote", () => {
  const record: RunnerRecord = { ...RUNNER, consumedSealed: ["once:a:b"] };
  const text = writeRunner(record);
  expect(JSON.parse(text)).toEqual({ ...RUNNER, unkept: ["once:a:b"] });
  expect(readRunner(text)).toEqual(record);
});

test("a record without consumed sealed messages is stored as it is", () => {
  expect(JSON.parse(writeRunner(RUNNER))).toEqual(RUNNER);
  expect(readRunner(writeRunner(RUNNER))).toEqual(RUNNER);
});

test("the trace id that earlier releases stored becomes a trace context with an unknown parent", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  expect(readRunner(JSON.stringify({ ...RUNNER, traceId })).trace).toEqual({
    traceId,
    spanId: "0".repeat(16),
    flags: 1,
  });
});

test("the record of an ended task is its members that outlast it, as JSON", () => {
  const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1 };
  const kept = { attempt: 3, tries: 2, turnAfter: 4, interruptedAt: 5 };
  const last = (more: Partial<RunnerRecord>): RunnerRecord =>
    readRunner(writeLastRunner({ ...kept, bytes: 1, deadline: 9, ...more }, 77));
  expect(last({})).toEqual({ ...kept, bytes: 77 });
  expect(last({ trace })).toEqual({ ...kept, bytes: 77, trace });
  const state = { ...trace, state: 'v="1"' };
  expect(last({ trace: state, consumedSealed: ['a"b'] })).toEqual({
    ...kept,
    bytes: 77,
    trace: state,
    consumedSealed: ['a"b'],
  });
});
