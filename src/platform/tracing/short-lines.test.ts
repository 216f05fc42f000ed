import { describe, expect, it } from "vitest";
import { spanJson } from "../../telemetry/otlp/otlp-json.ts";
import type { SharedAttributes, SpanData } from "../../telemetry/spans/span-data.ts";
import { LineWriter } from "./line-writer.ts";
import { ShortLineReader, ShortLines } from "./short-lines.ts";

const shared = (values: SharedAttributes["values"]): SharedAttributes => ({ values, json: undefined });

const BEGUN: SpanData = {
  context: { traceId: "a1".repeat(16), spanId: "b2".repeat(8), flags: 1 },
  parentSpanId: "c3".repeat(8),
  name: "invoke_agent é",
  kind: "server",
  start: 1_795_135_394_036.059,
  end: undefined,
  shared: shared({ agent: "ü", attempt: 1, "with\ttab": true }),
  attributes: { "a2a.task.id": "task 'one'", skill: undefined, context: "" },
  events: [],
  droppedEvents: 0,
  links: [],
  failed: false,
};
const WORKING = shared({ state: "working" });
const ENDED: SpanData = {
  ...BEGUN,
  name: "SendMessage",
  end: 1_795_135_394_999.999,
  endShared: shared({ outcome: "failed" }),
  endAttributes: { "http.status": "200" },
  events: [
    { name: "a2a.task.status", at: 1_795_135_394_100.001, attributes: WORKING },
    { name: "a2a.task.status", at: 1_795_135_394_100.002, attributes: WORKING },
    { name: "a2a.task.artifact", at: 1_795_135_394_200, attributes: shared({}) },
  ],
  failed: true,
};

/** Writes the beginning and the end; returns the span as read from the lines, and whether each had a short line. */
function written(begun: SpanData, ended: SpanData, into = new LineWriter()) {
  const lines = new ShortLines(into);
  // The first ones of their kind define it, one part after the other.
  for (let count = 0; count < 5; count += 1) {
    lines.begun(begun);
    lines.ended(ended);
  }
  const isBegunShort = lines.begun(begun);
  if (!isBegunShort) into.line(spanJson(begun));
  const isEndShort = lines.ended(ended);
  if (!isEndShort) into.line(spanJson(ended));
  const bytes = Buffer.from(into.slice());
  const reader = new ShortLineReader();
  const spans: string[] = [];
  for (const line of bytes.toString().slice(0, -1).split("\n")) {
    const json = reader.json(line, () => spans.at(-1));
    if (json.startsWith("{")) spans.push(json);
  }
  return { isBegunShort, isEndShort, bytes, spans: spans.slice(-2).map((json): unknown => JSON.parse(json)) };
}

const asJson = (...spans: readonly SpanData[]): unknown[] => spans.map((span): unknown => JSON.parse(spanJson(span)));

describe("Short lines of spans", () => {
  it("give the same JSON again, with every character and to the microsecond", () => {
    const { isBegunShort, isEndShort, bytes, spans } = written(BEGUN, ENDED);
    expect({ isBegunShort, isEndShort }).toEqual({ isBegunShort: true, isEndShort: true });
    expect(spans).toEqual(asJson(BEGUN, ENDED));
    expect([...bytes].every((byte) => byte < 0x7f)).toBe(true);
  });

  it("are of a span without parent, attributes and events, too", () => {
    const bare = { ...BEGUN, parentSpanId: undefined, shared: shared({}), attributes: {} };
    const end = { ...bare, end: bare.start, endShared: shared({}) };
    expect(written(bare, end)).toMatchObject({ isBegunShort: true, isEndShort: true, spans: asJson(bare, end) });
  });

  it.each([
    ["a trace state", { context: { ...BEGUN.context, state: "v=1" } }],
    ["links", { links: [BEGUN.context] }],
    ["no shared attributes", { shared: undefined }],
    ["a tab in a value", { attributes: { id: "a\tb" } }],
    ["a line break in a value", { attributes: { id: "a\nb" } }],
    ["a value that is not ASCII", { attributes: { id: "é" } }],
    ["a quote in a value", { attributes: { id: 'a"b' } }],
    ["a value that is no text", { attributes: { count: 3 } }],
    ["an id of another length", { context: { ...BEGUN.context, spanId: "b" } }],
  ])("are not of a span with %s", (_what, odd) => {
    const begun = { ...BEGUN, ...odd };
    const found = written(begun, { ...ENDED, ...odd, endAttributes: undefined });
    expect(found.isBegunShort).toBe(false);
    expect(found.spans[0]).toEqual(asJson(begun)[0]);
  });

  it.each([
    ["no end", { end: undefined }],
    ["events that were left out", { droppedEvents: 1 }],
    ["a value that is not ASCII", { endAttributes: { id: "é" } }],
  ])("are not of an end with %s", (_what, odd) => {
    expect(written(BEGUN, { ...ENDED, ...odd })).toMatchObject({ isBegunShort: true, isEndShort: false });
  });

  it("are not of a span whose name differs from that of the first span with the same shared attributes", () => {
    const lines = new ShortLines(new LineWriter());
    for (let count = 0; count < 3; count += 1) lines.begun(BEGUN);
    expect([BEGUN, { ...BEGUN, name: "other" }, BEGUN].map((span) => lines.begun(span))).toEqual([true, false, true]);
  });

  it("are defined again after what was written before does not count", () => {
    const into = new LineWriter();
    const lines = new ShortLines(into);
    for (let count = 0; count < 5; count += 1) lines.begun(BEGUN);
    into.cutTo(0);
    lines.clear();
    for (let count = 0; count < 5; count += 1) lines.begun(BEGUN);
    const reader = new ShortLineReader();
    const last = Buffer.from(into.slice())
      .toString()
      .slice(0, -1)
      .split("\n")
      .map((line) => reader.json(line, () => undefined))
      .at(-1);
    expect(JSON.parse(last ?? "")).toEqual(asJson(BEGUN)[0]);
  });

  it("need a limited number of definitions, whatever callers send", () => {
    const lines = new ShortLines(new LineWriter());
    const many = Array.from({ length: 2000 }, (_, number) => ({ ...BEGUN, shared: shared({ number }) }));
    for (let count = 0; count < 3; count += 1) lines.begun(BEGUN);
    for (const span of many) lines.begun(span);
    const short = many.filter((span) => lines.begun(span)).length;
    expect(short).toBeGreaterThan(900);
    expect(short).toBeLessThanOrEqual(1000);
  });
});
