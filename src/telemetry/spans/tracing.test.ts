import { expect, test } from "vitest";
import type { Telemetry } from "../contract.ts";
import type { NewSpan } from "./span-factory.ts";
import { createTracing } from "./tracing.ts";

const TRACE = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1 };

/** A telemetry, and the spans that it starts. */
function tracing(): { readonly telemetry: Telemetry; readonly started: NewSpan[] } {
  const started: NewSpan[] = [];
  const telemetry = createTracing((span) => {
    started.push(span);
    const trace = { ...TRACE, spanId: span.spanId ?? "c".repeat(16) };
    return { trace, addEvent() {}, finish() {} };
  });
  return { telemetry, started };
}

/** Two requests inside an attempt. Returns their ids. */
function requestsOf(attempt: number): readonly (string | undefined)[] {
  const { telemetry, started } = tracing();
  const task = { taskId: "t", contextId: "c", agent: "a", trace: TRACE, turn: 1, skill: undefined };
  const trace = telemetry.attempt?.({ ...task, attempt })?.trace;
  for (const operation of ["get", "get"] as const) telemetry.request?.({ url: "http://h/", operation, trace });
  return started.slice(1).map(({ spanId }) => spanId);
}

test("requests inside an attempt have ids that are derived from the attempt and their number in it", () => {
  const [first, second] = requestsOf(1);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(second).not.toBe(first);
  expect(requestsOf(1)).toEqual([first, second]);
  expect(requestsOf(2)).not.toContain(first);
});

test("a request in a context that came from outside has a random id", () => {
  const { telemetry, started } = tracing();
  telemetry.request?.({ url: "http://h/", operation: "get", trace: TRACE });
  expect(started).toMatchObject([{ parent: TRACE }]);
  expect(started[0]?.spanId).toBeUndefined();
});
