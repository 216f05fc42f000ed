import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import { readTask } from "../../protocol/serial.ts";
import type { PushCodec } from "../codec.ts";
import { fieldRefused, hostileJson } from "../test/hostile.ts";
import * as older from "../v0_1/test/models.ts";
import { place, storedEvent } from "../v0_3/test/frames.ts";
import * as middle from "../v0_3/test/models.ts";
import { event, SAMPLES, storedTask } from "../v1_0/test/models.ts";
import { readNotification } from "./notification.ts";
import { pushCodecOf } from "./push-codecs.ts";

const at = Date.parse("2026-01-01T00:00:00.000Z");
const working = { state: "working", timestamp: "2026-01-01T00:00:00.000Z" };

function codecOf(dialect: string): PushCodec {
  const codec = pushCodecOf(dialect);
  if (codec === undefined) throw new Error(dialect);
  return codec;
}

describe("A notification", () => {
  it("of an event of 1.0 decodes to the encoded event", () => {
    fc.assert(
      fc.property(event, place, (source: TaskEvent, { taskId, contextId }) => {
        const text = codecOf("1.0/rest").encodeEvent(storedEvent(source), { taskId, contextId, final: true });
        expect(readNotification(JSON.parse(text))).toEqual({
          taskId,
          ...(source.kind === "status" && { state: source.status.state }),
          event: { ...source, taskId, contextId, final: false },
        });
      }),
      SAMPLES,
    );
  });

  it("of a task of 1.0 decodes to the encoded task", () => {
    fc.assert(
      fc.property(storedTask, (stored) => {
        const text = codecOf("1.0/rest").encodeTask(stored, { kind: "status", at });
        const task = readTask(stored);
        const expected = { taskId: task.id, state: task.status.state, event: { kind: "task", task } };
        expect(readNotification(JSON.parse(text))).toEqual(expected);
      }),
      SAMPLES,
    );
  });

  it("of a task of 0.3 and 0.2 decodes to the encoded task", () => {
    fc.assert(
      fc.property(middle.task, (task) => {
        const expected = { taskId: task.id, state: task.status.state, event: { kind: "task", task } };
        for (const dialect of ["0.3/jsonrpc", "0.3/rest-proto", "0.2/jsonrpc"]) {
          const text = codecOf(dialect).encodeTask(middle.stored(task), { kind: "status", at });
          expect(readNotification(JSON.parse(text))).toEqual(expected);
        }
      }),
      SAMPLES,
    );
  });

  it("of a task of 0.1 decodes to the encoded task", () => {
    fc.assert(
      fc.property(older.task, fc.constantFrom("status", "artifact"), (task, about) => {
        const text = codecOf("0.1/jsonrpc").encodeTask(older.stored(task), { kind: about, at });
        const expected = { taskId: task.id, state: task.status.state, about, event: { kind: "task", task } };
        expect(readNotification(JSON.parse(text))).toEqual(expected);
      }),
      SAMPLES,
    );
  });

  it.each([
    ["no more than a state", { taskId: "t", eventType: "status", status: "working", timestamp: working.timestamp }],
    ["a status and the task's id", { taskId: "t", eventType: "status", status: working }],
    ["an update of 0.3", { kind: "status-update", taskId: "t", contextId: "c", status: working, final: false }],
    ["an update of 0.1", { id: "t", status: working, final: false }],
    ["an update in snake case", { status_update: { task_id: "t", status: working } }],
    ["an update in an envelope", { jsonrpc: "2.0", id: 1, result: { id: "t", status: working, final: false } }],
    ["a state as a constant", { taskId: "t", status: { ...working, state: "TASK_STATE_WORKING" } }],
  ])("may be %s", (_what, body) => {
    expect(readNotification(body)).toMatchObject({
      taskId: "t",
      state: "working",
      event: { kind: "status", taskId: "t", status: { state: "working", timestamp: working.timestamp } },
    });
  });

  it.each([
    ["a task without its kind", { id: "t", sessionId: "c", status: working }],
    ["a bare task of 1.0", { id: "t", contextId: "c", status: { ...working, state: "TASK_STATE_WORKING" } }],
    ["a wrapped task of 0.3", { task: { kind: "task", id: "t", contextId: "c", status: working } }],
    ["a task with the name of its state", { id: "t", contextId: "c", status: "working", timestamp: working.timestamp }],
    ["a task beside a message", { id: "t", contextId: "c", status: working, message: { text: "Look!" } }],
  ])("may be %s", (_what, body) => {
    expect(readNotification(body)).toEqual({
      taskId: "t",
      state: "working",
      event: { kind: "task", task: { id: "t", contextId: "c", status: working } },
    });
  });

  it("may be an artifact update, which has no state", () => {
    const artifact = { index: 0, parts: [{ type: "text", text: "x" }] };
    const notification = readNotification({ taskId: "t", eventType: "artifact", artifact });
    expect(notification).toMatchObject({ taskId: "t", about: "artifact", event: { kind: "artifact" } });
    expect(notification).not.toHaveProperty("state");
  });

  it("may be a message, with or without a task", () => {
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "x" }] };
    expect(readNotification({ message })).toMatchObject({ event: { kind: "message" } });
    expect(readNotification({ message })).not.toHaveProperty("taskId");
    expect(readNotification({ message: { ...message, taskId: "t" } })).toMatchObject({ taskId: "t" });
    const kinded = { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "x" }] };
    expect(readNotification(kinded)).toMatchObject({ event: { kind: "message" } });
  });
});

describe("An invalid notification", () => {
  it.each([
    ["nothing", undefined, "body"],
    ["null", null, "body"],
    ["text", "task", "body"],
    ["a list", [{ id: "t", status: working }], "body"],
    ["an empty object", {}, "body"],
    ["a wrapper of nothing", { task: null }, "body"],
    ["a wrapper of text", { statusUpdate: "done" }, "body"],
    [
      "two things at once",
      { task: { id: "t", status: working }, statusUpdate: { taskId: "u", status: working } },
      "body",
    ],
    ["a task without id", { kind: "task", status: working }, "id"],
    ["a task without status", { kind: "task", id: "t" }, "status"],
    ["a state that is none", { kind: "task", id: "t", status: { state: "done" } }, "status.state"],
    ["the name of a state that is none", { taskId: "t", eventType: "status", status: "done" }, "status.state"],
    ["an update of no task", { kind: "status-update", status: working }, "taskId"],
    ["an update of no task in 1.0", { statusUpdate: { status: working } }, "taskId"],
    ["an id that is a number", { taskId: 1, status: working, eventType: "status" }, "taskId"],
    ["a wrapped task without id", { task: { status: working } }, "task.id"],
    [
      "parts that are none",
      { artifactUpdate: { taskId: "t", artifact: { artifactId: "a", parts: [{}] } } },
      "artifactUpdate.artifact.parts[0]",
    ],
  ])("is refused: %s", (_what, body, field) => {
    expect(fieldRefused(() => readNotification(body))).toBe(field);
  });

  it("is refused with the name of the invalid field, whatever it contains", () => {
    const names = ["task", "message", "statusUpdate", "artifactUpdate", "kind", "id", "taskId", "status", "state"];
    const more = ["artifact", "artifacts", "artifactId", "parts", "text", "eventType", "jsonrpc", "result", "history"];
    const hostile = hostileJson([...names, ...more], ["task", "status-update", "working", "TASK_STATE_WORKING"]);
    fc.assert(
      fc.property(
        fc.oneof(hostile.anything, hostile.mutated(fc.constant({ statusUpdate: { taskId: "t", status: working } }))),
        (body) => {
          const field = fieldRefused(() => readNotification(body));
          if (field !== undefined) expect(field).not.toMatch(/^$|^result|^event/);
        },
      ),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });
});
