import { describe, expect, it } from "vitest";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import { TASK_STATES } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";
import { officialJson, officialState, stateNamed } from "./official-json.ts";
import { createRpcClientCodec } from "./v1_0/client-codec.ts";

const message: Message = { messageId: "m" as MessageId, role: "agent", parts: [{ text: "a\nb" }] };
const task: Task = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  status: { state: "input-required", message, timestamp: "2027-05-17T10:00:00.000Z" },
  artifacts: [{ artifactId: "a" as ArtifactId, parts: [{ data: null }] }],
  history: [{ ...message, role: "user" }],
  metadata: { x: 1 },
};

describe("officialJson", () => {
  const codec = createRpcClientCodec();

  it("decodes to the encoded object", () => {
    expect(codec.decodeResult("get", JSON.parse(officialJson.task(task)))).toEqual({ kind: "task", task });
    expect(codec.decodeResult("send", JSON.parse(officialJson.sent({ task })))).toEqual({ kind: "sent", task });
    expect(codec.decodeResult("send", JSON.parse(officialJson.sent({ message })))).toEqual({
      kind: "replied",
      message,
    });
    const page = { tasks: [task], nextPageToken: 'n"', pageSize: 1, totalSize: 2 };
    expect(codec.decodeResult("list", JSON.parse(officialJson.tasks(page)))).toEqual({
      kind: "tasks",
      tasks: [task],
      nextPageToken: 'n"',
      pageSize: 1,
      total: 2,
    });
    const config = {
      id: "i",
      url: "https://h/",
      token: "k",
      authentication: { schemes: ["Bearer"], credentials: "s" },
    } as const;
    expect(codec.decodeResult("push-get", JSON.parse(officialJson.pushConfig("t", config)))).toEqual({
      kind: "push-config",
      config: { ...config, taskId: "t" },
    });
  });

  it("has one line per event, which decodes to the encoded event", () => {
    const place = { taskId: "t", contextId: "c", final: false };
    const { status } = task;
    const [artifact] = task.artifacts ?? [];
    if (artifact === undefined) throw new Error("There is no artifact.");
    const events = [
      [{ kind: "task", task } as const, { kind: "task", task }],
      [{ kind: "message", message } as const, { kind: "message", message }],
      [{ kind: "status", status, task } as const, { kind: "status", status, ...place }],
      [
        { kind: "artifact", artifact, append: true, lastChunk: true, task } as const,
        { kind: "artifact", artifact, append: true, lastChunk: true, ...place },
      ],
    ] as const;
    for (const [event, read] of events) {
      const text = officialJson.event(event);
      expect(text).not.toContain("\n");
      expect(codec.decodeEvent(JSON.parse(text))).toEqual(read);
    }
  });
});

it("writes states as in 1.0, and parses them in every notation", () => {
  for (const state of TASK_STATES) {
    const official = officialState({ state });
    expect(official).toMatch(/^TASK_STATE_[A-Z_]+$/);
    for (const typed of [state, state.toUpperCase(), official]) expect(stateNamed(typed)).toBe(state);
  }
  expect(stateNamed("lost")).toBeUndefined();
});

it("writes TASK_STATE_UNSPECIFIED if the agent sent no state", () => {
  // Safe: any id will do.
  const ids = { id: "t" as TaskId, contextId: "c" as ContextId };
  const message = {
    messageId: "m" as MessageId,
    role: "agent",
    parts: [{ text: "TASK_STATE_WORKING" }],
  } as const;
  const status = { state: "working", isUnspecified: true, message, timestamp: "2030-01-01T00:00:00.000Z" } as const;
  expect(officialState(status)).toBe("TASK_STATE_UNSPECIFIED");
  const said = { state: "TASK_STATE_UNSPECIFIED", message: { parts: message.parts } };
  expect(JSON.parse(officialJson.task({ ...ids, status }))).toMatchObject({ status: said });
  expect(JSON.parse(officialJson.event({ kind: "status", status, task: { ...ids, status } }))).toMatchObject({
    statusUpdate: { status: said },
  });
});
