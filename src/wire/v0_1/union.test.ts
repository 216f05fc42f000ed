import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import type { EventPlace, StreamOpening } from "../codec.ts";
import { dialectSettings } from "../options.ts";
import { createRpcClientCodec as createNewerClient } from "../v0_3/client-codec.ts";
import { createRpcCodec as createNewerCodec } from "../v0_3/codec.ts";
import { place as anyPlace, storedEvent } from "../v0_3/test/frames.ts";
import * as newer from "../v0_3/test/models.ts";
import { ArtifactNumbers } from "./artifact-numbers.ts";
import { createRpcClientCodec } from "./client-codec.ts";
import { createRpcCodec } from "./codec.ts";
import { createUnionRpcCodec } from "./union.ts";

const { SAMPLES, stored } = newer;
const settings = dialectSettings({});
const union = createUnionRpcCodec(createNewerCodec(settings));
const [codec0_1, codec0_3] = [createRpcCodec(settings), createNewerCodec(settings)];
const [reader0_1, reader0_3] = [createRpcClientCodec(), createNewerClient()];

const OLD = "0.1/jsonrpc";
const timestamp = "2026-01-01T00:00:00.000Z";
const task: Task = {
  id: "t" as TaskId,
  contextId: "s" as ContextId,
  status: {
    state: "rejected",
    timestamp,
    message: { messageId: "m" as MessageId, role: "agent", parts: [{ text: "No" }] },
  },
  artifacts: [{ artifactId: "a" as ArtifactId, name: "n", parts: [{ data: [1] }], metadata: { kind: "own" } }],
  history: [{ messageId: "u" as MessageId, role: "user", parts: [{ raw: "aGk=" }], referenceTaskIds: ["r" as TaskId] }],
  metadata: { a: [1, { b: null }] },
};

function made(dialect: string | undefined, source: Task = task): StoredTask {
  return { ...stored(source), ...(dialect !== undefined && { dialect }) };
}

function frames(opening: StreamOpening): unknown[] {
  const encoded = union.encodeOpening(opening);
  return typeof encoded === "string" ? [JSON.parse(encoded)] : encoded.map(({ text }): unknown => JSON.parse(text));
}

/** As clients of 0.3 decode it: everything, with states that both versions have. */
function common(source: Task): Task {
  const { state } = source.status;
  const known = state === "rejected" ? "failed" : state === "auth-required" ? "input-required" : state;
  return { ...source, status: { ...source.status, state: known } };
}

describe("A task created in 0.1, for a reader that requests no version", () => {
  it("has the members of 0.1 and of 0.3", () => {
    expect(JSON.parse(union.encodeResult({ kind: "task", task: made(OLD) }))).toEqual({
      kind: "task",
      id: "t",
      contextId: "s",
      sessionId: "s",
      status: {
        state: "failed",
        message: {
          kind: "message",
          messageId: "m",
          role: "agent",
          parts: [{ kind: "text", type: "text", text: "No" }],
        },
        timestamp,
      },
      artifacts: [
        {
          artifactId: "a",
          index: 0,
          name: "n",
          parts: [{ kind: "data", type: "data", data: { value: [1] }, metadata: { data_part_compat: true } }],
          metadata: { kind: "own" },
        },
      ],
      history: [
        {
          kind: "message",
          messageId: "u",
          role: "user",
          parts: [{ kind: "file", type: "file", file: { bytes: "aGk=" } }],
          referenceTaskIds: ["r"],
        },
      ],
      metadata: { a: [1, { b: null }] },
    });
  });

  it("is decoded by clients of 0.1 and of 0.3", () => {
    fc.assert(
      fc.property(newer.task, (source) => {
        const text = union.encodeResult({ kind: "task", task: made(OLD, source) });
        expect(text).toMatch(/^\{"kind":"task",/);
        const wire: unknown = JSON.parse(text);
        expect(reader0_3.decodeResult("get", wire)).toEqual({ kind: "task", task: common(source) });
        const own: unknown = JSON.parse(codec0_1.encodeResult({ kind: "task", task: made(OLD, source) }));
        expect(wire).toMatchObject(own as object);
      }),
      SAMPLES,
    );
  });

  it("is streamed as events with the members of 0.1 and of 0.3", () => {
    const [status, artifact] = frames({ kind: "task", task: made(OLD) });
    expect(status).toMatchObject({ kind: "status-update", taskId: "t", id: "t", contextId: "s", final: false });
    expect(status).toMatchObject({ status: { state: "failed" }, metadata: task.metadata });
    expect(artifact).toMatchObject({
      kind: "artifact-update",
      taskId: "t",
      id: "t",
      contextId: "s",
      artifact: { artifactId: "a", index: 0, parts: [{ kind: "data", type: "data" }] },
    });
    const place: EventPlace = { taskId: task.id, contextId: task.contextId, final: false, origin: OLD };
    const chunk: TaskEvent = {
      kind: "artifact",
      artifact: { artifactId: "b" as ArtifactId, parts: [{ text: "x" }] },
      append: true,
      lastChunk: true,
    };
    const numbers = new ArtifactNumbers(made(OLD).artifacts);
    expect(JSON.parse(union.encodeEvent(storedEvent(chunk), { ...place, state: numbers }))).toEqual({
      kind: "artifact-update",
      taskId: "t",
      id: "t",
      contextId: "s",
      artifact: {
        artifactId: "b",
        index: 1,
        parts: [{ kind: "text", type: "text", text: "x" }],
        append: true,
        lastChunk: true,
      },
      append: true,
      lastChunk: true,
    });
  });

  it("is streamed in a format that clients of 0.1 and of 0.3 decode", () => {
    fc.assert(
      fc.property(newer.event, anyPlace, (source, at) => {
        const text = union.encodeEvent(storedEvent(source), { ...at, origin: OLD });
        const wire: unknown = JSON.parse(text);
        const own: unknown = JSON.parse(codec0_1.encodeEvent(storedEvent(source), at));
        expect(wire).toMatchObject(own as object);
        expect(reader0_1.decodeEvent(wire)).toMatchObject({ kind: source.kind, taskId: at.taskId });
        const final = source.kind === "status" && at.final;
        const known =
          source.kind === "status" ? { ...source, status: common({ ...task, status: source.status }).status } : source;
        const goesOn = known.kind === "status" && !final && isInterrupted(known.status.state);
        const here = { taskId: at.taskId, contextId: at.contextId, final, ...(goesOn && { moreFollows: true }) };
        expect(reader0_3.decodeEvent(wire)).toEqual({ ...known, ...here });
      }),
      SAMPLES,
    );
  });

  it("has its own cache key", () => {
    const shared = storedEvent({ kind: "status", status: task.status }, new Map());
    const at: EventPlace = { taskId: task.id, contextId: task.contextId, final: true, origin: OLD };
    const texts = [union, codec0_1, codec0_3].map((codec) => codec.encodeEvent(shared, at));
    expect(new Set(texts).size).toBe(3);
    expect([union, codec0_1, codec0_3].map((codec) => codec.encodeEvent(shared, at))).toEqual(texts);
  });

  it("numbers the artifacts of tasks that were created in 0.1, and of no others", () => {
    const origins = [OLD, "0.3/jsonrpc", undefined];
    expect(origins.map((origin) => union.policy.numbersArtifacts?.(origin))).toEqual([true, false, false]);
    const states = origins.map((origin) => union.streamState?.(made(origin), undefined));
    expect(states).toEqual([expect.any(ArtifactNumbers), undefined, undefined]);
  });
});

describe("A task created in another version, for a reader that requests no version", () => {
  it.each(["0.3/jsonrpc", "1.0/rest", "plain", undefined])("is encoded as in 0.3: %s", (dialect) => {
    for (const result of [
      { kind: "task", task: made(dialect) },
      { kind: "sent", task: made(dialect) },
    ] as const) {
      expect(union.encodeResult(result)).toBe(codec0_3.encodeResult(result));
    }
    const opening: StreamOpening = { kind: "task", task: made(dialect) };
    expect(union.encodeOpening(opening)).toBe(codec0_3.encodeOpening(opening));
    const event = storedEvent({ kind: "status", status: task.status });
    const at: EventPlace = { taskId: task.id, contextId: task.contextId, final: false, origin: dialect };
    expect(union.encodeEvent(event, at)).toBe(codec0_3.encodeEvent(event, at));
  });

  it("is requested as in 0.3", () => {
    expect(union.decodeRequest("get", { taskId: "t" })).toEqual(codec0_3.decodeRequest("get", { taskId: "t" }));
    expect(union.operationOf("tasks/resubscribe")).toBe("subscribe");
  });
});
