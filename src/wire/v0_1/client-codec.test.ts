import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import type { MessageId, TaskId } from "../../protocol/ids.ts";
import { OPERATIONS, type OperationRequest, type SendRequest } from "../../protocol/operation.ts";
import { dialectSettings } from "../options.ts";
import { place, storedEvent } from "../v0_3/test/frames.ts";
import { anything, mutated } from "../v0_3/test/hostile.ts";
import { createRpcClientCodec } from "./client-codec.ts";
import { createRpcCodec } from "./codec.ts";
import { event, NEW_ID, request, SAMPLES, stored, task } from "./test/models.ts";

const server = createRpcCodec(dialectSettings({}), () => NEW_ID);
const client = createRpcClientCodec(() => "fresh");

const timestamp = "2026-01-01T00:00:00.000Z";
const sending: SendRequest = {
  operation: "send",
  tenant: "",
  message: { messageId: "m" as MessageId, role: "user", parts: [{ text: "x" }] },
  metadata: {},
  outputModes: [],
  history: undefined,
  waitMs: Number.POSITIVE_INFINITY,
};

function frames(opening: Parameters<typeof server.encodeOpening>[0]): unknown[] {
  const encoded = server.encodeOpening(opening);
  return typeof encoded === "string" ? [JSON.parse(encoded)] : encoded.map(({ text }): unknown => JSON.parse(text));
}

describe("A 0.1 client", () => {
  it("is decoded by the server codec", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const { method, params } = client.encodeRequest(asked);
        expect(server.operationOf(method)).toBe(asked.operation);
        expect(server.decodeRequest(asked.operation, JSON.parse(params))).toEqual(asked);
      }),
      { ...SAMPLES, numRuns: sampled(40, 300) },
    );
  });

  it("generates the id of a new task", () => {
    expect(client.encodeRequest(sending)).toEqual({
      method: "tasks/send",
      params: '{"id":"fresh","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}',
    });
    const { params } = createRpcClientCodec().encodeRequest(sending);
    expect(JSON.parse(params)).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it.each<OperationRequest>([
    { operation: "list", tenant: "", pageSize: 5, artifacts: true, history: 0 },
    { operation: "push-list", tenant: "", taskId: "t" as TaskId },
    { operation: "push-delete", tenant: "", taskId: "t" as TaskId, id: "p" },
    { operation: "extended-card", tenant: "" },
  ])("refuses operations that 0.1 does not have: $operation", (asked) => {
    expect(() => client.encodeRequest(asked)).toThrow(expect.objectContaining({ code: "unsupported-operation" }));
  });

  it("decodes tasks to the encoded ones", () => {
    fc.assert(
      fc.property(task, (source) => {
        const sent: unknown = JSON.parse(server.encodeResult({ kind: "sent", task: stored(source) }));
        expect(client.decodeResult("send", sent)).toEqual({ kind: "sent", task: source });
        for (const operation of ["get", "cancel"] as const) {
          expect(client.decodeResult(operation, sent)).toEqual({ kind: "task", task: source });
        }
      }),
      SAMPLES,
    );
  });

  it("decodes events to the encoded ones", () => {
    fc.assert(
      fc.property(event, place, (source, at) => {
        const text = server.encodeEvent(storedEvent(source), at);
        expect(text).not.toMatch(/[\n\r]/);
        const final = source.kind === "status" && at.final;
        expect(client.decodeEvent(JSON.parse(text))).toEqual({ ...source, taskId: at.taskId, contextId: "", final });
      }),
      SAMPLES,
    );
  });

  it("decodes the first frames of a stream to the encoded task", () => {
    fc.assert(
      fc.property(task, fc.boolean(), (source, final) => {
        const read = frames({ kind: "task", task: stored(source), final }).map((frame) => client.decodeEvent(frame));
        const statuses = read.filter((found) => found.kind === "status");
        expect(statuses).toMatchObject([{ taskId: source.id, status: source.status, final }]);
        expect(statuses[0]).toBe(final ? read.at(-1) : read[0]);
        const artifacts = read.flatMap((found) => (found.kind === "artifact" ? [found.artifact] : []));
        expect(artifacts).toEqual(source.artifacts ?? []);
      }),
      SAMPLES,
    );
  });

  it("decodes a status without a timestamp", () => {
    const task = { id: "t", status: { state: "working" } };
    expect(client.decodeResult("get", task)).toEqual({
      kind: "task",
      task: { id: "t", contextId: "", status: { state: "working" } },
    });
  });

  it.each<[string, unknown, object]>([
    ["another name of a state", { status: { state: "cancelled", timestamp } }, { status: { state: "canceled" } }],
    ["a state it does not know", { status: { state: "unknown", timestamp } }, { status: { state: "working" } }],
    [
      "artifacts without numbers",
      { status: { state: "working" }, artifacts: [{ parts: [] }, { parts: [] }] },
      { artifacts: [{ artifactId: "0" }, { artifactId: "1" }] },
    ],
    [
      "artifacts with ids",
      { status: { state: "working" }, artifacts: [{ artifactId: "a", index: 4, parts: [] }] },
      { artifacts: [{ artifactId: "a" }] },
    ],
    ["a context", { contextId: "c", sessionId: "s", status: { state: "working" } }, { contextId: "c" }],
    ["no session", { status: { state: "working" } }, { contextId: "" }],
    [
      "a file without content",
      { status: { state: "working", message: { role: "agent", parts: [{ type: "file", file: { name: "a" } }] } } },
      { status: { message: { parts: [{ data: { file: { name: "a" } } }] } } },
    ],
    [
      "nulls for what is left out",
      { sessionId: null, status: { state: "working", message: null }, artifacts: null, history: null, metadata: null },
      { status: { state: "working" } },
    ],
  ])("decodes a task with %s", (_what, wire, expected) => {
    expect(client.decodeResult("get", { id: "t", ...(wire as object) })).toMatchObject({
      kind: "task",
      task: { id: "t", ...expected },
    });
  });

  it.each<[string, unknown, object]>([
    ["without final", { id: "t", status: { state: "working" } }, { kind: "status", taskId: "t", final: false }],
    [
      "of a piece without number",
      { id: "t", artifact: { parts: [], append: true } },
      { kind: "artifact", artifact: { artifactId: "0" }, append: true, lastChunk: false },
    ],
    [
      "of a piece with a number",
      { id: "t", artifact: { parts: [], index: 3, lastChunk: true } },
      { artifact: { artifactId: "3" }, append: false, lastChunk: true },
    ],
    [
      "with its flags as later versions have them",
      { id: "t", artifact: { parts: [] }, append: true },
      { append: true },
    ],
    ["without task", { status: { state: "failed" }, final: true }, { kind: "status", taskId: "", final: true }],
    [
      "that is a whole task",
      { id: "t", status: { state: "working" }, artifacts: [] },
      { kind: "task", task: { id: "t" } },
    ],
    [
      "that is a task by name",
      { kind: "task", id: "t", status: { state: "working" } },
      { kind: "task", task: { id: "t" } },
    ],
    [
      "that is a message",
      { role: "agent", parts: [{ type: "text", text: "x" }] },
      { kind: "message", message: { parts: [{ text: "x" }] } },
    ],
  ])("decodes an event %s", (_what, wire, expected) => {
    expect(client.decodeEvent(wire)).toMatchObject(expected);
  });

  it("decodes a webhook, and the answer that there is none", () => {
    const pushNotificationConfig = { url: "https://x", token: "k" };
    expect(client.decodeResult("push-get", { id: "t", pushNotificationConfig })).toEqual({
      kind: "push-config",
      config: { taskId: "t", ...pushNotificationConfig },
    });
    expect(client.decodeResult("push-create", { id: "t", pushNotificationConfig })).toMatchObject({
      kind: "push-config",
    });
    for (const nothing of [null, {}, { id: "t", pushNotificationConfig: null }]) {
      expect(client.decodeResult("push-get", nothing)).toEqual({ kind: "done" });
    }
  });

  it("decodes any answer, or throws invalid-agent-response", () => {
    const answers = fc.oneof(
      anything,
      mutated(task.map((source): unknown => JSON.parse(server.encodeResult({ kind: "task", task: stored(source) })))),
    );
    const check = (read: () => unknown): void => {
      try {
        read();
      } catch (error) {
        expect(error).toBeInstanceOf(A2AError);
        expect(error).toMatchObject({ code: "invalid-agent-response" });
      }
    };
    fc.assert(
      fc.property(fc.constantFrom(...OPERATIONS), answers, (operation, value) => {
        check(() => client.decodeResult(operation, value));
        check(() => client.decodeEvent(value));
        expect(client.decodeError(value, 200)).toBeInstanceOf(A2AError);
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });
});
