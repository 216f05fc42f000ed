import { expect, it } from "vitest";
import type { SharedAttributes, SpanData } from "../spans/span-data.ts";
import { spanJson } from "./otlp-json.ts";
import { writeSpan } from "./span-bytes.ts";
import { TextBytes } from "./text-bytes.ts";

const shared = (values: SharedAttributes["values"]): SharedAttributes => ({ values, json: undefined });

const SPAN: SpanData = {
  context: { traceId: "a1".repeat(16), spanId: "b2".repeat(8), flags: 1 },
  parentSpanId: "c3".repeat(8),
  name: "invoke_agent é",
  kind: "server",
  start: 1_795_135_394_036.059,
  end: 1_795_135_394_036.06,
  shared: shared({ agent: "ü", attempt: 1, list: ["a", "b"] }),
  attributes: { "a2a.task.id": "one", skill: undefined, "gen_ai.conversation.id": "two" },
  endShared: shared({ outcome: "completed" }),
  endAttributes: { "a2a.task.id": "three" },
  events: [
    { name: "a2a.task.status", at: 1_795_135_394_037, attributes: shared({ state: "working" }) },
    { name: "a2a.task.artifact", at: 1_795_135_394_038.999, attributes: shared({}) },
  ],
  droppedEvents: 0,
  links: [],
  failed: false,
};

it.each<[string, Partial<SpanData>]>([
  ["all parts", {}],
  ["no parent", { parentSpanId: undefined }],
  ["no events", { events: [] }],
  ["another kind", { kind: "internal" }],
  ["another name with the same attributes", { name: "other" }],
  ["no attributes of its own", { attributes: {}, endAttributes: undefined }],
  ["no attributes at all", { attributes: {}, endAttributes: undefined, shared: shared({}), endShared: shared({}) }],
  ["shared attributes that are empty", { shared: shared({}) }],
  ["a quote in a value", { attributes: { id: 'a"b\\' } }],
  ["a value that is not ASCII", { endAttributes: { id: "é\n" } }],
  ["a value that is no text", { attributes: { count: 3 } }],
  ["no shared attributes", { shared: undefined, endShared: undefined }],
  ["no end", { end: undefined }],
  ["an error", { failed: true }],
  ["links and dropped events", { links: [SPAN.context], droppedEvents: 3 }],
  ["a trace state", { context: { ...SPAN.context, state: "v=1" } }],
  ["no flag", { context: { ...SPAN.context, flags: 0 } }],
])("A span with %s has the same JSON as bytes and as text", (_what, odd) => {
  const span = { ...SPAN, ...odd };
  const bytes = new TextBytes(16);
  bytes.write("before");
  writeSpan(bytes, span);
  const text = new TextDecoder().decode(bytes.slice());
  expect(text).toBe(`before${spanJson(span)}`);
  expect(JSON.parse(text.slice("before".length))).toMatchObject({ spanId: span.context.spanId, name: span.name });
});
