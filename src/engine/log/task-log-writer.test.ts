import { describe, expect, test } from "vitest";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import { readEvent, writeStatus } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { eventText } from "../../testing/engine-harness.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { Feed } from "../read/feed.ts";
import { Committer } from "./committer.ts";
import { TaskLogWriter } from "./task-log-writer.ts";

// Safe: ids for this test.
const ref = {
  id: "t1" as TaskId,
  contextId: "c1" as ContextId,
  scope: { agent: "a", tenant: "", owner: "o" },
  dialect: "test",
};

function openWriter(): {
  readonly writer: TaskLogWriter;
  readonly feed: Feed;
  readonly store: Store;
  story(): Promise<string[]>;
} {
  const clock = new FakeClock();
  const store = createMemoryStore({ now: () => clock.now() });
  const status = writeStatus({ state: "submitted", timestamp: new Date(clock.now()).toISOString() });
  const committer = new Committer({
    writer: "test",
    store,
    clock,
    retryFor: 1000,
    onFatal: (error) => {
      throw error;
    },
  });
  const feed = new Feed(
    ref,
    { createdAt: 0, seq: 0, state: "submitted", status, metadata: undefined, interruptedAt: 0, questions: undefined },
    DEFAULT_LIMITS,
  );
  const writer = new TaskLogWriter(
    {
      ref,
      epoch: 1,
      seq: 0,
      head: { state: "submitted", status, statusAt: clock.now(), runner: "", active: true },
      runner: { attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 0, bytes: 0 },
      knownArtifacts: [],
      historyLength: 0,
      create: {
        message: '{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}',
        streams: false,
        record: {
          contextId: ref.contextId,
          contextShared: false,
          scope: ref.scope,
          dialect: "test",
          at: clock.now(),
          node: "n",
        },
      },
    },
    feed,
    { committer, clock, limits: DEFAULT_LIMITS, hooks: {}, onCommitted: () => {} },
  );
  const story = async (): Promise<string[]> =>
    (await store.log(ref.id, 0, 1e9)).map(({ body }) => eventText(readEvent(body)));
  return { writer, feed, store, story };
}

const chunk = (text: string) =>
  ({
    kind: "artifact",
    artifact: { artifactId: "a" as ArtifactId, parts: [{ text }] },
    append: false,
    lastChunk: false,
  }) as const;

describe("the states of a task", () => {
  test("a missing `working` is inserted before a question, content or completion, but not before a failure", async () => {
    const expected: [TaskState | "chunk", string[]][] = [
      ["input-required", ["working", "input-required"]],
      ["chunk", ["working", "a=x"]],
      ["completed", ["working", "completed"]],
      ["failed", ["failed"]],
      ["rejected", ["rejected"]],
    ];
    for (const [move, story] of expected) {
      const trial = openWriter();
      if (move === "chunk") trial.writer.artifact(chunk("x"));
      else if (move === "completed" || move === "failed" || move === "rejected")
        await trial.writer.end(move, { unlessInbox: false });
      else trial.writer.status("input-required");
      await trial.writer.flush();
      expect(await trial.story()).toEqual(story);
    }
  });

  test("a state change that is not allowed throws the reason and changes nothing", async () => {
    const { writer, story } = openWriter();
    writer.status("working");
    expect(() => writer.status("submitted")).toThrow("The task is working; it cannot become submitted again.");
    await writer.flush();
    expect([writer.state, await story()]).toEqual(["working", ["working"]]);
  });

  test("nothing can be written after a terminal state, not even before that is committed", async () => {
    const { writer, story } = openWriter();
    const ended = writer.end("completed", { unlessInbox: true });
    for (let round = 0; round < 2; round += 1) {
      expect(() => writer.status("working")).toThrow("has ended");
      expect(() => writer.artifact(chunk("x"))).toThrow("has ended");
      expect(() => writer.end("failed", { unlessInbox: false })).toThrow("has ended");
      expect(() => writer.remember({ key: "k", value: "1" })).toThrow("has ended");
      await ended;
    }
    expect(await story()).toEqual(["working", "completed"]);
  });
});

describe("an end that a message prevents", () => {
  test("leaves the whole runner record in the store", async () => {
    const { writer, store } = openWriter();
    writer.updateHead({ runner: { skill: "s", deadline: 5 } });
    writer.status("working");
    await writer.flush();
    await store.commit([
      {
        kind: "post",
        task: ref.id,
        entry: { id: "m2", kind: "message", body: "{}", sealed: false, at: 0 },
        maxWaiting: 10,
      },
    ]);
    expect(await writer.end("completed", { unlessInbox: true })).toBe("inbox");
    const record = await store.get(ref.id, { artifacts: false });
    expect(JSON.parse(record?.head.runner ?? "{}")).toMatchObject({ skill: "s", deadline: 5 });
  });
});

describe("a writer that released its lease", () => {
  test("rejects everything that is written afterwards", async () => {
    const { writer, story } = openWriter();
    writer.status("working");
    await writer.flush();
    const released = writer.release();
    // The commit is in flight now; later writes are not part of it.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await released;
    expect(() => writer.status("working")).toThrow("no longer holds");
    await expect(writer.flush()).rejects.toMatchObject({ reason: "lease-lost" });
    expect(await story()).toEqual(["working"]);
  });
});

describe("a writer that lost its task", () => {
  test("rejects everything that waits and everything written afterwards", async () => {
    const { writer, story } = openWriter();
    writer.status("working");
    await writer.flush();
    writer.artifact(chunk("x"));
    const waiting = writer.flush();
    const ended = writer.end("completed", { unlessInbox: false });
    writer.lose({ kind: "lease-lost" });
    await expect(waiting).rejects.toMatchObject({ reason: "lease-lost" });
    await expect(ended).rejects.toMatchObject({ reason: "lease-lost" });
    expect(() => writer.artifact(chunk("y"))).toThrow("no longer holds");
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(await story()).toEqual(["working"]);
  });
});
