import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Artifact } from "./artifact.ts";
import type { TaskEvent } from "./event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Message } from "./message.ts";
import type { Part } from "./part.ts";
import {
  readEvent,
  readMessage,
  readStatus,
  readTask,
  statusIn,
  textChunkStart,
  textOfChunk,
  writeEvent,
  writeMessage,
  writeStatus,
} from "./serial.ts";
import { TASK_STATES } from "./state.ts";
import type { TaskStatus } from "./task.ts";
import { SpanMetadata } from "./trace-context.ts";

// Through JSON once, because JSON itself changes -0.
const json = fc.jsonValue({ maxDepth: 3 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
const metadata: fc.Arbitrary<JsonObject> = fc.dictionary(fc.string(), json, { maxKeys: 3, noNullPrototype: true });
const text = fc.string({ unit: "binary" });

const details = {
  mediaType: fc.constantFrom("text/plain", "image/png"),
  filename: text,
  metadata,
};
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text, ...details }, { requiredKeys: ["text"], noNullPrototype: true }),
  fc.record({ raw: fc.base64String(), ...details }, { requiredKeys: ["raw"], noNullPrototype: true }),
  fc.record({ url: fc.webUrl(), ...details }, { requiredKeys: ["url"], noNullPrototype: true }),
  fc.record({ data: json, ...details }, { requiredKeys: ["data"], noNullPrototype: true }),
);
const message: fc.Arbitrary<Message> = fc.record(
  {
    messageId: text.map((id) => id as MessageId),
    role: fc.constantFrom("user", "agent"),
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    contextId: text.map((id) => id as ContextId),
    taskId: text.map((id) => id as TaskId),
    referenceTaskIds: fc.array(text.map((id) => id as TaskId)),
    extensions: fc.array(fc.webUrl()),
    metadata,
  },
  { requiredKeys: ["messageId", "role", "parts"], noNullPrototype: true },
);
const status: fc.Arbitrary<TaskStatus> = fc.record(
  {
    state: fc.constantFrom(...TASK_STATES),
    message,
    timestamp: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  },
  { requiredKeys: ["state", "timestamp"], noNullPrototype: true },
);
const artifact: fc.Arbitrary<Artifact> = fc.record(
  {
    artifactId: text.map((id) => id as ArtifactId),
    name: text,
    description: text,
    parts: fc.array(part, { maxLength: 3 }),
    extensions: fc.array(fc.webUrl()),
    metadata,
  },
  { requiredKeys: ["artifactId", "parts"], noNullPrototype: true },
);
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.record(
    { kind: fc.constant("status" as const), status, metadata },
    { requiredKeys: ["kind", "status"], noNullPrototype: true },
  ),
  fc.record(
    { kind: fc.constant("artifact" as const), artifact, append: fc.boolean(), lastChunk: fc.boolean(), metadata },
    { requiredKeys: ["kind", "artifact", "append", "lastChunk"], noNullPrototype: true },
  ),
);

describe("the stored form", () => {
  test("a message reads as it was written", () => {
    fc.assert(
      fc.property(message, (value) => {
        expect(readMessage(writeMessage(value))).toStrictEqual(value);
      }),
    );
  });

  test("a status reads as it was written", () => {
    fc.assert(
      fc.property(status, (value) => {
        expect(readStatus(writeStatus(value))).toStrictEqual(value);
      }),
    );
  });

  test("an event reads as it was written", () => {
    fc.assert(
      fc.property(event, (value) => {
        expect(readEvent(writeEvent(value))).toStrictEqual(value);
      }),
    );
  });

  test("the text of a chunk is that of the whole event, and of no event that has more than a text", () => {
    const chunk = fc.record({ append: fc.boolean(), lastChunk: fc.boolean(), isBare: fc.boolean(), artifact, text });
    fc.assert(
      fc.property(chunk, ({ artifact: whole, text: added, isBare, ...flags }) => {
        const { artifactId } = whole;
        const appended = isBare ? { artifactId, parts: [{ text: added }] } : whole;
        const value: TaskEvent = { kind: "artifact", artifact: appended, ...flags };
        const isTextAlone = flags.append && !flags.lastChunk && isBare;
        const found = textOfChunk(writeEvent(value), textChunkStart(artifactId));
        if (isTextAlone) expect(found).toBe(added);
        else if (found !== undefined) expect(appended).toStrictEqual({ artifactId, parts: [{ text: found }] });
        expect(textOfChunk(writeEvent(value), textChunkStart(`${artifactId}2`))).toBeUndefined();
      }),
    );
  });

  test("a task reads as its texts were written, without additional members", () => {
    const pieces = fc.record(
      {
        status,
        artifacts: fc.array(artifact, { maxLength: 2 }),
        history: fc.array(message, { maxLength: 2 }),
        metadata,
      },
      { requiredKeys: ["status"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(pieces, (piece) => {
        const task = readTask({
          id: "t" as TaskId,
          contextId: "c" as ContextId,
          seq: 3,
          state: piece.status.state,
          status: writeStatus(piece.status),
          ...(piece.artifacts !== undefined && { artifacts: JSON.stringify(piece.artifacts) }),
          ...(piece.history !== undefined && { history: `[${piece.history.map(writeMessage).join(",")}]` }),
          ...(piece.metadata !== undefined && { metadata: JSON.stringify(piece.metadata) }),
        });
        expect(task).toStrictEqual({ id: "t", contextId: "c", ...piece });
      }),
    );
  });

  test("contains no line break, which would break a frame of a stream", () => {
    fc.assert(
      fc.property(event, message, (someEvent, someMessage) => {
        expect(writeEvent(someEvent) + writeMessage(someMessage)).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test("writing a read value again gives the same text", () => {
    fc.assert(
      fc.property(event, (value) => {
        const body = writeEvent(value);
        expect(writeEvent(readEvent(body))).toBe(body);
      }),
    );
  });

  test("equals the JSON of the wire, so that it can be sent unchanged", () => {
    const timestamp = "2030-01-01T00:00:00.000Z";
    const agentSays: Message = { messageId: "m" as MessageId, role: "agent", parts: [{ text: "hi" }] };
    expect(writeEvent({ kind: "status", status: { state: "input-required", message: agentSays, timestamp } })).toBe(
      '{"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]},"timestamp":"2030-01-01T00:00:00.000Z"}}',
    );
    const chunk: Artifact = { artifactId: "a" as ArtifactId, parts: [{ data: null }] };
    expect(writeEvent({ kind: "artifact", artifact: chunk, append: true, lastChunk: true, metadata: { k: 1 } })).toBe(
      '{"artifact":{"artifactId":"a","parts":[{"data":null}]},"append":true,"lastChunk":true,"metadata":{"k":1}}',
    );
    expect(writeEvent({ kind: "artifact", artifact: chunk, append: false, lastChunk: false })).toBe(
      '{"artifact":{"artifactId":"a","parts":[{"data":null}]}}',
    );
    expect(TASK_STATES.map((state) => JSON.parse(writeStatus({ state, timestamp })).state)).toEqual([
      "TASK_STATE_SUBMITTED",
      "TASK_STATE_WORKING",
      "TASK_STATE_INPUT_REQUIRED",
      "TASK_STATE_AUTH_REQUIRED",
      "TASK_STATE_COMPLETED",
      "TASK_STATE_FAILED",
      "TASK_STATE_CANCELED",
      "TASK_STATE_REJECTED",
    ]);
  });

  test("refuses texts that it never writes", () => {
    expect(() => readEvent("{}")).toThrow("neither a status nor an artifact");
    expect(() => readStatus('{"state":"TASK_STATE_DREAMING","timestamp":""}')).toThrow("TASK_STATE_DREAMING");
    expect(() => readStatus('{"state":"constructor","timestamp":""}')).toThrow("unknown state");
    expect(() => readEvent("{")).toThrow(SyntaxError);
  });
});

describe("statusIn", () => {
  const status = { state: "working", timestamp: "2026-01-01T00:00:00.000Z" } as const;
  const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1 };
  test.each([
    ["no metadata", undefined],
    ["the ids of a span", new SpanMetadata(trace)],
    ["metadata of the agent", { status: { state: "failed" } }],
  ])("the status of an event with %s is that of its text", (_name, metadata) => {
    const event = { kind: "status", status, ...(metadata !== undefined && { metadata }) } as const;
    expect(statusIn(writeEvent(event), event)).toBe(writeStatus(status));
    expect(statusIn(undefined, event)).toBe(writeStatus(status));
  });
});
