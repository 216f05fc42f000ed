import { describe, expect, test } from "vitest";
import { readTraceContext, traceContextIn, writeTraceparent } from "./trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("readTraceContext", () => {
  test("reads the ids, the flags and the state", () => {
    expect(readTraceContext(`00-${TRACE}-${SPAN}-01`, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      flags: 1,
      state: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    });
    expect(readTraceContext(`00-${TRACE}-${SPAN}-00`, undefined)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 0 });
  });

  test("accepts later versions with more members, and spaces around the header", () => {
    expect(readTraceContext(` cc-${TRACE}-${SPAN}-03-what-follows `, undefined)).toMatchObject({ flags: 3 });
  });

  test.each([
    undefined,
    "",
    "nonsense",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
  ])("rejects %j", (traceparent) => {
    expect(readTraceContext(traceparent, "a=b")).toBeUndefined();
  });

  test.each(["", "   ", "a=ü", "a=b\u0000", `a=${"x".repeat(512)}`])("leaves out the invalid state %j", (state) => {
    expect(readTraceContext(`00-${TRACE}-${SPAN}-01`, state)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
  });
});

test("writeTraceparent writes what readTraceContext reads", () => {
  for (const flags of [0, 1, 255]) {
    const context = { traceId: TRACE, spanId: SPAN, flags };
    expect(readTraceContext(writeTraceparent(context), undefined)).toEqual(context);
  }
});

test("traceContextIn finds the span in the metadata of an event", () => {
  expect(traceContextIn({ traceId: TRACE, spanId: SPAN, other: 1 })).toEqual({
    traceId: TRACE,
    spanId: SPAN,
    flags: 1,
  });
  expect(traceContextIn({ traceId: TRACE, spanId: "short" })).toBeUndefined();
  expect(traceContextIn(undefined)).toBeUndefined();
});
