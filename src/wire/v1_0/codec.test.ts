import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { OPERATIONS } from "../../protocol/operation.ts";
import { writeEvent, writeMessage } from "../../protocol/serial.ts";
import type { Codec, EventText } from "../codec.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { METHOD_OF } from "./methods.ts";
import { contextId, event, message, SAMPLES, storedTask, taskId } from "./test/models.ts";

const rpc = createRpcCodec();
const rest = createRestCodec(dialectSettings({}));
const firstEdition = createRestCodec(dialectSettings({ errorProfile: "1.0.0" }));
const CODECS: readonly [string, Codec][] = [
  ["JSON-RPC", rpc],
  ["REST", rest],
];

function textOf(source: TaskEvent): EventText {
  const state = source.kind === "status" ? { state: source.status.state } : {};
  return { body: writeEvent(source), encoded: new Map(), ...state };
}

describe.each(CODECS)("The 1.0 codec of %s", (_binding, codec) => {
  it("encodes an event as its stored text with the ids added", () => {
    fc.assert(
      fc.property(event, taskId, contextId, (source, task, context) => {
        const stored = textOf(source);
        const text = codec.encodeEvent(stored, { taskId: task, contextId: context, final: false });
        expect(text).not.toMatch(/[\n\r]/);
        const member = source.kind === "status" ? "statusUpdate" : "artifactUpdate";
        const ids = `"taskId":${JSON.stringify(task)},"contextId":${JSON.stringify(context)}`;
        expect(text).toBe(`{"${member}":{${ids},${stored.body.slice(1)}}`);
      }),
      SAMPLES,
    );
  });

  it("encodes each event once", () => {
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

  it("encodes a task as its stored texts, and only those that exist", () => {
    fc.assert(
      fc.property(storedTask, (task) => {
        const { id, contextId: context, status, artifacts, history, metadata } = task;
        const stored = Object.entries({ status, artifacts, history, metadata }).filter(
          ([, text]) => text !== undefined,
        );
        const ids = [`"id":${JSON.stringify(id)}`, `"contextId":${JSON.stringify(context)}`];
        const expected = `{${[...ids, ...stored.map(([name, text]) => `"${name}":${text}`)].join(",")}}`;
        expect(codec.encodeResult({ kind: "task", task })).toBe(expected);
        expect(codec.encodeResult({ kind: "sent", task })).toBe(`{"task":${expected}}`);
        expect(codec.encodeOpening({ kind: "task", task })).toBe(`{"task":${expected}}`);
        const page = { kind: "tasks", tasks: [task, task], total: 5, pageSize: 2, next: { at: 1, id: "x" } } as const;
        expect(JSON.parse(codec.encodeResult(page))).toEqual({
          tasks: [JSON.parse(expected), JSON.parse(expected)],
          nextPageToken: expect.stringMatching(/^[\w-]+$/),
          pageSize: 2,
          totalSize: 5,
        });
      }),
      SAMPLES,
    );
  });

  it("encodes the last page with an empty token, and an empty page with an empty list", () => {
    const page = { kind: "tasks", tasks: [], total: 0, pageSize: 50 } as const;
    expect(JSON.parse(codec.encodeResult(page))).toEqual({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
  });

  it("encodes a message instead of a task", () => {
    fc.assert(
      fc.property(message, (reply) => {
        const expected = `{"message":${writeMessage(reply)}}`;
        expect(codec.encodeResult({ kind: "replied", message: reply })).toBe(expected);
        expect(codec.encodeOpening({ kind: "message", message: reply })).toBe(expected);
      }),
      SAMPLES,
    );
  });
});

const INFO = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  domain: "a2a-protocol.org",
  metadata: { taskId: "t" },
};
const BAD_REQUEST = {
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field: "id", description: "is required" }],
};

describe("An error of 1.0", () => {
  it.each(ERROR_CODES)("%s has its reason, but not its cause, in JSON-RPC", (code) => {
    const error = new A2AError(code, "No", { cause: new Error("inside"), metadata: { taskId: "t" } });
    const text = rpc.encodeError(error);
    expect(text).not.toContain("inside");
    expect(JSON.parse(text)).toEqual({
      code: expect.any(Number),
      message: "No",
      data: [{ ...INFO, reason: expect.stringMatching(/^[A-Z_]+$/) }],
    });
  });

  it.each(ERROR_CODES)("%s has its status and reason, but not its cause, in REST", (code) => {
    const error = new A2AError(code, "No", { cause: new Error("inside"), metadata: { taskId: "t" } });
    for (const codec of [rest, firstEdition]) {
      const text = codec.encodeError(error);
      expect(text).not.toContain("inside");
      expect(JSON.parse(text)).toEqual({
        error: {
          code: codec.statusOf(error),
          status: expect.stringMatching(/^[A-Z_]+$/),
          message: "No",
          details: [{ ...INFO, reason: expect.stringMatching(/^[A-Z_]+$/) }],
        },
      });
    }
  });

  it("has the names of the invalid fields", () => {
    const violations = [{ field: "id", description: "is required" }];
    const error = new A2AError("invalid-params", "No", { violations });
    expect(JSON.parse(rpc.encodeError(error))).toMatchObject({ data: [{}, BAD_REQUEST] });
    expect(JSON.parse(rest.encodeError(error))).toMatchObject({ error: { details: [{}, BAD_REQUEST] } });
  });

  it("has the statuses of the edition in errorProfile", () => {
    const error = new A2AError("task-not-cancelable", "No");
    expect([rest.statusOf(error), firstEdition.statusOf(error)]).toEqual([400, 409]);
    const unsupported = new A2AError("unsupported-operation", "No");
    expect(JSON.parse(rest.encodeError(unsupported))).toMatchObject({ error: { status: "FAILED_PRECONDITION" } });
    expect(JSON.parse(firstEdition.encodeError(unsupported))).toMatchObject({ error: { status: "UNIMPLEMENTED" } });
  });
});

describe("The methods of 1.0", () => {
  it.each(OPERATIONS)("include one for %s", (operation) => {
    expect(rpc.operationOf(METHOD_OF[operation])).toBe(operation);
  });

  it("include the name of the webhook list in the release candidates", () => {
    expect(rpc.operationOf("ListTaskPushNotificationConfig")).toBe("push-list");
  });

  it.each(["", "sendMessage", "message/send", "SendMessage ", "toString", "__proto__"])(
    "do not include %j",
    (method) => {
      expect(rpc.operationOf(method)).toBeUndefined();
    },
  );
});

describe("The media type of REST 1.0", () => {
  it("is application/a2a+json, or application/json if restMediaType says so; both are accepted", () => {
    expect(rest.mediaTypes).toEqual(["application/a2a+json", "application/json"]);
    const plain = createRestCodec(dialectSettings({ restMediaType: "application/json" }));
    expect(plain.mediaTypes).toEqual(["application/json", "application/a2a+json"]);
  });
});
