import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { type StoredTask, writeEvent, writeMessage, writeStatus } from "../../protocol/serial.ts";
import { TASK_STATES } from "../../protocol/state.ts";
import type { EventText } from "../codec.ts";
import { codec } from "./codec.ts";

const timestamp = fc
  .date({ min: new Date(0), max: new Date("9999-12-31T00:00:00.000Z"), noInvalidDate: true })
  .map((date) => date.toISOString());
// Written and read once, because JSON has no -0.
const metadata = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string({ unit: "binary" }) }),
  fc.record({ raw: fc.base64String(), filename: fc.string() }),
  fc.record({ url: fc.webUrl(), mediaType: fc.constant("image/png") }),
  fc.record({
    data: fc.jsonValue().map((value): Part["data"] => JSON.parse(JSON.stringify(value))),
    metadata,
  }) as fc.Arbitrary<Part>,
);
const message: fc.Arbitrary<Message> = fc.record(
  {
    messageId: fc.string({ minLength: 1 }).map((id) => id as MessageId),
    role: fc.constantFrom("user", "agent"),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    contextId: fc.string().map((id) => id as ContextId),
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);
const status = fc.record(
  { state: fc.constantFrom(...TASK_STATES), message, timestamp },
  { requiredKeys: ["state", "timestamp"] },
);
const artifact = fc.record({
  artifactId: fc.string().map((id) => id as ArtifactId),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
});
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.record({ kind: fc.constant("status" as const), status, metadata }, { requiredKeys: ["kind", "status"] }),
  fc.record(
    { kind: fc.constant("artifact" as const), artifact, append: fc.boolean(), lastChunk: fc.boolean(), metadata },
    { requiredKeys: ["kind", "artifact", "append", "lastChunk"] },
  ),
);
const ids = { taskId: fc.string(), contextId: fc.string() };

function textOf(source: TaskEvent): EventText {
  const state = source.kind === "status" ? { state: source.status.state } : {};
  return { body: writeEvent(source), encoded: new Map(), ...state };
}

describe("The 1.0 codec", () => {
  it("writes an event as its stored text with the ids added", () => {
    fc.assert(
      fc.property(event, fc.record(ids), (source, { taskId, contextId }) => {
        const stored = textOf(source);
        const place = { taskId: taskId as TaskId, contextId: contextId as ContextId, final: false };
        const text = codec.encodeEvent(stored, place);
        expect(text).not.toMatch(/[\n\r]/);
        const member = source.kind === "status" ? "statusUpdate" : "artifactUpdate";
        expect(JSON.parse(text)).toEqual({ [member]: { taskId, contextId, ...JSON.parse(stored.body) } });
      }),
    );
  });

  it("makes the text of an event once", () => {
    const stored = textOf({ kind: "status", status: { state: "working", timestamp: "2026-01-01T00:00:00.000Z" } });
    let made = 0;
    const counted = {
      ...stored,
      get body() {
        made += 1;
        return stored.body;
      },
    };
    const place = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
    const first = codec.encodeEvent(counted, place);
    for (let reader = 0; reader < 10; reader++) expect(codec.encodeEvent(counted, place)).toBe(first);
    expect(made).toBe(1);
  });

  it("writes a task as its stored texts, and only those that are there", () => {
    const stored = fc.record(
      {
        artifacts: fc.array(artifact, { maxLength: 2 }).map((list) => JSON.stringify(list)),
        history: fc.array(message, { maxLength: 2 }).map((list) => `[${list.map(writeMessage).join(",")}]`),
        metadata: metadata.map((object) => JSON.stringify(object)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(stored, status, fc.record(ids), (optional, current, { taskId, contextId }) => {
        const task: StoredTask = {
          id: taskId as TaskId,
          contextId: contextId as ContextId,
          seq: 1,
          state: current.state,
          status: writeStatus(current),
          ...optional,
        };
        const expected: Record<string, unknown> = { id: taskId, contextId, status: JSON.parse(task.status) };
        for (const [name, text] of Object.entries(optional)) expected[name] = JSON.parse(text);
        expect(JSON.parse(codec.encodeResult({ kind: "task", task }))).toEqual(expected);
        expect(JSON.parse(codec.encodeResult({ kind: "sent", task }))).toEqual({ task: expected });
        expect(JSON.parse(codec.encodeOpening({ kind: "task", task }))).toEqual({ task: expected });
        const page = { kind: "tasks", tasks: [task, task], total: 5, pageSize: 2, next: { at: 1, id: "x" } } as const;
        expect(JSON.parse(codec.encodeResult(page))).toEqual({
          tasks: [expected, expected],
          nextPageToken: expect.stringMatching(/^[\w-]+$/),
          pageSize: 2,
          totalSize: 5,
        });
      }),
    );
  });

  it("writes a message in place of a task", () => {
    fc.assert(
      fc.property(message, (reply) => {
        const expected = { message: JSON.parse(writeMessage(reply)) };
        expect(JSON.parse(codec.encodeResult({ kind: "replied", message: reply }))).toEqual(expected);
        expect(JSON.parse(codec.encodeOpening({ kind: "message", message: reply }))).toEqual(expected);
      }),
    );
  });

  it.each(ERROR_CODES)("writes the error %s with its reason and never its cause", (code) => {
    const error = new A2AError(code, "No", { cause: new Error("inside"), metadata: { taskId: "t" } });
    const text = codec.encodeError(error);
    expect(text).not.toContain("inside");
    expect(JSON.parse(text)).toEqual({
      code: expect.any(Number),
      message: "No",
      data: [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: expect.stringMatching(/^[A-Z_]+$/),
          domain: "a2a-protocol.org",
          metadata: { taskId: "t" },
        },
      ],
    });
  });

  it("uses no code and no reason twice", () => {
    const errors = ERROR_CODES.map((code): { code: number; data: [{ reason: string }] } =>
      JSON.parse(codec.encodeError(new A2AError(code, "No"))),
    );
    expect(new Set(errors.map(({ code }) => code)).size).toBe(ERROR_CODES.length);
    expect(new Set(errors.map(({ data }) => data[0].reason)).size).toBe(ERROR_CODES.length);
  });
});
