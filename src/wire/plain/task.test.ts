import { describe, expect, it } from "vitest";
import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message, Role } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { type StoredTask, writeMessage, writeStatus } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { encodeTask } from "./task.ts";

interface TaskSample {
  readonly state?: TaskState;
  /** The text of the status message. */
  readonly says?: Message;
  readonly history?: readonly Message[];
  readonly artifacts?: readonly (readonly Part[])[];
  readonly createdAt?: number;
}

function message(id: string, role: Role, ...parts: readonly (string | Part)[]): Message {
  const all = parts.map((part) => (typeof part === "string" ? { text: part } : part));
  return { messageId: id as MessageId, role, parts: all };
}

function stored({ state = "working", says, history, artifacts, createdAt }: TaskSample): StoredTask {
  const made = artifacts?.map((parts, index): Artifact => ({ artifactId: `a${index}` as ArtifactId, parts }));
  const timestamp = "2030-01-01T00:00:05.000Z";
  return {
    id: "task-1" as TaskId,
    contextId: "session-1" as ContextId,
    seq: 3,
    state,
    status: writeStatus({ state, timestamp, ...(says !== undefined && { message: says }) }),
    ...(made !== undefined && { artifacts: JSON.stringify(made) }),
    ...(history !== undefined && { history: `[${history.map(writeMessage).join(",")}]` }),
    ...(createdAt !== undefined && { createdAt }),
  };
}

/** `user: text|text` for each message. */
function conversation(sample: TaskSample): readonly string[] {
  const { messages }: { messages: { role: string; parts: { type: string; text: string }[] }[] } = JSON.parse(
    encodeTask(stored(sample)),
  );
  for (const { type } of messages.flatMap(({ parts }) => parts)) expect(type).toBe("text");
  return messages.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text).join("|")}`);
}

const hello = message("u", "user", "Hello");

describe("A plain task", () => {
  it("has exactly these members: pinned", () => {
    const sample = { state: "completed", history: [hello], artifacts: [[{ text: "Hi there" }]] } as const;
    expect(encodeTask(stored({ ...sample, createdAt: Date.UTC(2030, 0, 1) }))).toBe(
      '{"id":"task-1","state":"completed","messages":[{"role":"user","parts":[{"type":"text","text":"Hello"}]},' +
        '{"role":"agent","parts":[{"type":"text","text":"Hi there"}]}],"sessionId":"session-1",' +
        '"createdAt":"2030-01-01T00:00:00.000Z","updatedAt":"2030-01-01T00:00:05.000Z"}',
    );
  });

  it("has the time of its status as createdAt if its creation time is unknown", () => {
    expect(JSON.parse(encodeTask(stored({})))).toMatchObject({ createdAt: "2030-01-01T00:00:05.000Z", messages: [] });
  });

  it("has one of four states", () => {
    const states = TASK_STATES.map((state) => [state, JSON.parse(encodeTask(stored({ state }))).state]);
    expect(Object.fromEntries(states)).toEqual({
      submitted: "submitted",
      working: "working",
      "input-required": "working",
      "auth-required": "working",
      completed: "completed",
      failed: "failed",
      canceled: "failed",
      rejected: "failed",
    });
  });

  it("has all messages in their order, and the status message only once", () => {
    const thinking = message("s", "agent", "Thinking");
    expect(conversation({ says: thinking, history: [hello] })).toEqual(["user: Hello", "agent: Thinking"]);
    expect(conversation({ says: thinking, history: [hello, thinking] })).toEqual(["user: Hello", "agent: Thinking"]);
    expect(conversation({ says: thinking, history: [hello, thinking, message("v", "user", "And?")] })).toEqual([
      "user: Hello",
      "agent: Thinking",
      "user: And?",
    ]);
  });

  it("ends with all artifacts as one text", () => {
    const artifacts = [[{ text: "Hi " }, { text: "there" }], [{ text: "" }], [{ text: "P.S. Bye" }]];
    const done = message("s", "agent", "Done");
    expect(conversation({ state: "completed", says: done, history: [hello, done], artifacts })).toEqual([
      "user: Hello",
      "agent: Done",
      "agent: Hi there\n\nP.S. Bye",
    ]);
    expect(conversation({ history: [hello], artifacts: [[{ text: "" }]] })).toEqual(["user: Hello"]);
  });

  it.each(["failed", "canceled", "rejected", "input-required", "auth-required"] as const)(
    "that is %s says so after what it had made",
    (state) => {
      const why = message("s", "agent", "Why");
      const sample = { state, says: why, artifacts: [[{ text: "Half" }]] };
      for (const history of [[hello], [hello, why]]) {
        expect(conversation({ ...sample, history })).toEqual(["user: Hello", "agent: Half", "agent: Why"]);
      }
    },
  );

  it.each([
    ["failed", "Task failed"],
    ["canceled", "Task canceled"],
    ["rejected", "Task rejected"],
  ] as const)("that is %s without a word says %s", (state, words) => {
    expect(conversation({ state, history: [hello], artifacts: [[{ text: "Half" }]] })).toEqual([
      "user: Hello",
      "agent: Half",
      `agent: ${words}`,
    ]);
  });

  it("has other parts as text", () => {
    const shown: readonly [Part, string][] = [
      [{ data: { a: [1, null] } }, '{"a":[1,null]}'],
      [{ data: null }, "null"],
      [{ url: "https://x.example/r.pdf" }, "https://x.example/r.pdf"],
      [{ url: "https://x.example/1", filename: "r.pdf", mediaType: "application/pdf" }, "r.pdf: https://x.example/1"],
      [{ raw: "AAAA" }, "[file]"],
      [{ raw: "AAAA", filename: "r.pdf" }, "[r.pdf]"],
      [{ raw: "AAAA", filename: "r.pdf", mediaType: "application/pdf" }, "[r.pdf, application/pdf]"],
      [{ raw: "AAAA", mediaType: "image/png" }, "[file, image/png]"],
    ];
    const parts = shown.map(([part]) => part);
    const texts = shown.map(([, text]) => text);
    expect(conversation({ history: [message("u", "user", "See:", ...parts)] })).toEqual([
      `user: See:|${texts.join("|")}`,
    ]);
    expect(conversation({ artifacts: [[{ text: "See:" }, ...parts, { text: "a" }, { text: "b" }]] })).toEqual([
      `agent: See:\n${texts.join("\n")}\nab`,
    ]);
  });
});
