import { expect, test } from "vitest";
import { LiveSpan } from "./live-span.ts";

function reports() {
  const seen: string[] = [];
  const sink = { began: () => void seen.push("began"), ended: () => void seen.push("ended") };
  const context = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1 };
  const span = { parent: undefined, name: "n", kind: "server", isStoredFirst: true } as const;
  return { seen, context, span: new LiveSpan(span, { context, parentSpanId: undefined }, sink) };
}

test("a span is announced once, when its context is first used", () => {
  const { seen, span } = reports();
  expect(span.trace).toBe(span.trace);
  span.finish({});
  span.finish({});
  expect(seen).toEqual(["began", "ended"]);
});

test("a span whose context is first used after its end is not announced: it would never end again", () => {
  const { seen, context, span } = reports();
  span.finish({});
  expect(span.trace).toEqual(context);
  expect(seen).toEqual(["ended"]);
});
