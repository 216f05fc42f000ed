import { describe, expect, it } from "vitest";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Task } from "../../protocol/task.ts";
import type { EventPlace, EventText, StreamOpening } from "../codec.ts";
import { storedEvent } from "../v0_3/test/frames.ts";
import { ArtifactNumbers } from "./artifact-numbers.ts";
import { EVENT_FORMAT, encodeEvent, encodeOpening, eventName } from "./event.ts";
import { stored } from "./test/models.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const place: EventPlace = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
const working: TaskEvent = { kind: "status", status: { state: "working", timestamp }, metadata: { traceId: "1" } };
const task: Task = {
  id: place.taskId,
  contextId: place.contextId,
  status: { state: "working", timestamp },
  artifacts: [artifact("x", "1"), artifact("y", "2")],
  history: [{ messageId: "m" as MessageId, role: "user", parts: [{ text: "q" }] }],
  metadata: { a: 1 },
};

function artifact(id: string, text: string) {
  return { artifactId: id as ArtifactId, parts: [{ text }] };
}

function piece(id: string, text: string, more: object = {}): EventText {
  return storedEvent({ kind: "artifact", artifact: artifact(id, text), append: true, lastChunk: false, ...more });
}

function frame(event: EventText, at: EventPlace = place): unknown {
  return JSON.parse(encodeEvent(event, at, EVENT_FORMAT));
}

function frames(opening: StreamOpening): readonly (readonly [string, unknown])[] {
  return encodeOpening(opening, EVENT_FORMAT).map(({ name, text }) => [name, JSON.parse(text)]);
}

describe("A 0.1 stream", () => {
  const status = { id: "t", status: { state: "working", timestamp }, metadata: { a: 1 } };
  const artifacts = [
    ["artifact", { id: "t", artifact: { parts: [{ type: "text", text: "1" }], index: 0 } }],
    ["artifact", { id: "t", artifact: { parts: [{ type: "text", text: "2" }], index: 1 } }],
  ];

  it("begins with the status of the task, then its artifacts", () => {
    expect(frames({ kind: "task", task: stored(task) })).toEqual([
      ["status", { ...status, final: false }],
      ...artifacts,
    ]);
  });

  it("has the status last, with final true, if the task has ended", () => {
    expect(frames({ kind: "task", task: stored(task), final: true })).toEqual([
      ...artifacts,
      ["status", { ...status, final: true }],
    ]);
  });

  it("begins with only a status if the task has no artifacts", () => {
    const { id, contextId } = task;
    const opening = { kind: "task", task: stored({ id, contextId, status: task.status }), final: true } as const;
    expect(frames(opening)).toEqual([["status", { id: "t", status: status.status, final: true }]]);
  });

  it("has different event names for statuses and artifacts", () => {
    expect([eventName(storedEvent(working)), eventName(piece("a", "x"))]).toEqual(["status", "artifact"]);
  });
});

describe("A 0.1 event", () => {
  it("is a status with the member final", () => {
    const expected = { id: "t", status: { state: "working", timestamp }, metadata: { traceId: "1" } };
    expect(frame(storedEvent(working))).toEqual({ ...expected, final: false });
    expect(frame(storedEvent(working), { ...place, final: true })).toEqual({ ...expected, final: true });
  });

  it("is a chunk of an artifact that contains append and lastChunk", () => {
    const parts = [{ type: "text", text: "x" }];
    expect(frame(piece("a", "x", { append: false }))).toEqual({ id: "t", artifact: { parts, index: 0 } });
    expect(frame(piece("a", "x"))).toEqual({ id: "t", artifact: { parts, index: 0, append: true } });
    expect(frame(piece("a", "x", { lastChunk: true, metadata: { b: 2 } }))).toEqual({
      id: "t",
      artifact: { parts, index: 0, append: true, lastChunk: true },
      metadata: { b: 2 },
    });
  });

  it.each([
    ["plain ids", "a", "b"],
    ["ids that must be escaped", '"', "\\"],
    ["ids that look alike when cut", 'a"b', 'a"c'],
  ])("has the number of its artifact, in the order of first appearance: %s", (_what, first, second) => {
    const at = { ...place, state: new ArtifactNumbers(JSON.stringify([artifact("known", "")])) };
    const indexOf = (event: EventText): unknown => {
      const wire = JSON.parse(encodeEvent(event, { ...at }, EVENT_FORMAT)) as { artifact: { index: unknown } };
      return wire.artifact.index;
    };
    expect([first, second, first, "known"].map((id) => indexOf(piece(id, "x")))).toEqual([1, 2, 1, 0]);
  });

  it("has its number even if artifactId is not the first member", () => {
    const body = JSON.stringify({ artifact: { parts: [{ text: "x" }], artifactId: "b" } });
    const numbers = new ArtifactNumbers(JSON.stringify([artifact("a", ""), artifact("b", "")]));
    expect(frame({ body }, { ...place, state: numbers })).toMatchObject({ artifact: { index: 1 } });
  });

  it("is encoded once per number and once per value of final, and cached texts count in the numbering", () => {
    const texts = new Map<string, string>();
    const chunk = { ...piece("b", "x"), encoded: texts };
    const readers = ["[]", "[]", JSON.stringify([artifact("a", "")])].map((known) => new ArtifactNumbers(known));
    const read = readers.map((numbers) => encodeEvent(chunk, { ...place, state: numbers }, EVENT_FORMAT));
    expect(read[0]).toBe(read[1]);
    expect(texts.size).toBe(2);
    expect(read[2]).toContain('"index":1');
    expect(readers.map((numbers) => numbers.of("c"))).toEqual([1, 1, 2]);
    const status = storedEvent(working, texts);
    const ends = [false, true, false, true].map((final) => encodeEvent(status, { ...place, final }, EVENT_FORMAT));
    expect(new Set(ends).size).toBe(2);
    expect(texts.size).toBe(4);
  });
});
