import { describe, expect, test } from "vitest";
import type { TaskEvent } from "../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId } from "../protocol/ids.ts";
import { StoreError } from "../store/contract.ts";
import { eventText, openHarness, scripted, turns } from "../testing/engine-harness.ts";
import type { EngineHooks } from "./api.ts";

const echo = scripted(async (task) => `did ${task.text}`);
const waits = scripted(
  (task) => new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
);

describe("a task of another caller", () => {
  test("is not found by any operation, running or ended", async () => {
    await using harness = await openHarness({
      agents: [scripted(async (task) => (task.text === "wait" ? task.ask("Well?") : "done")), { ...echo, id: "other" }],
    });
    const mine = { owner: "alice", tenant: "acme" };
    for (const text of ["wait", "finish"]) {
      const { id } = await harness.send(
        { parts: [{ text }], messageId: `m-${text}` as MessageId },
        { ...mine, streaming: true },
      );
      for (const who of [{ ...mine, owner: "eve" }, { ...mine, tenant: "globex" }, { ...mine, agent: "other" }, {}]) {
        const scope = harness.scope(who);
        expect(await harness.find(id, who)).toBeUndefined();
        expect(await harness.engine.cancel(scope, id)).toBe("not-found");
        expect(await harness.engine.subscribe(scope, id, {})).toBeUndefined();
        expect(await harness.engine.subscribe(scope, id, { after: 0 })).toBeUndefined();
        expect(await harness.engine.findByMessage(scope, `m-${text}`)).toBeUndefined();
        expect((await harness.engine.list({ scope, limit: 10, artifacts: true })).tasks).toEqual([]);
        await expect(harness.start({ taskId: id, parts: [{ text: "x" }] }, who)).rejects.toMatchObject({
          code: "task-not-found",
        });
      }
      expect(await harness.engine.findByMessage(harness.scope(mine), `m-${text}`)).toMatchObject({ taskId: id });
      expect(await harness.find(id, mine)).toBeDefined();
    }
    expect((await harness.engine.list({ scope: harness.scope(mine), limit: 10, artifacts: true })).total).toBe(2);
    expect(harness.engine.counts().subscribers).toBe(0);
  });

  test("stays invisible to a caller that uses its context id", async () => {
    await using harness = await openHarness({ agents: echo });
    const contextId = "shared" as ContextId;
    const parts = [{ text: "x" }];
    await harness.send({ contextId, parts }, { owner: "alice" });
    await harness.send({ contextId, parts }, { owner: "bob" });
    const page = await harness.engine.list({
      scope: harness.scope({ owner: "bob" }),
      contextId,
      limit: 10,
      artifacts: false,
    });
    expect(page.total).toBe(1);
  });
});

describe("hooks", () => {
  test("on.event sees every event once, in order, after its commit", async () => {
    const seen: unknown[] = [];
    const hooks: EngineHooks = {
      on: { event: (event, task) => void seen.push([event.seq, eventText(event), task.scope.owner]) },
    };
    await using harness = await openHarness({ agents: echo, hooks });
    harness.store.hold({ applied: true });
    const ticket = await harness.begin("go");
    await harness.until(() => harness.store.held === 1);
    await turns(5);
    expect(seen).toEqual([]);
    harness.store.release();
    await harness.settled(ticket);
    expect(seen).toEqual([
      [1, "working", "anonymous"],
      [2, "result=did go!", "anonymous"],
      [3, "completed", "anonymous"],
    ]);
  });

  test("that throw or reject are logged and change nothing", async () => {
    const hooks: EngineHooks = {
      on: {
        event: (event) => {
          if (event.seq === 1) throw new Error("sync");
          return Promise.reject(new Error("async"));
        },
        error: () => {
          throw new Error("error hook");
        },
      },
    };
    await using harness = await openHarness({ agents: echo, hooks });
    const task = await harness.send("go");
    expect(task.status.state).toBe("completed");
    await turns(3);
    expect(harness.logs.filter(({ message }) => message === "A hook failed")).toHaveLength(3);
  });
});

describe("transform", () => {
  const redact = (event: TaskEvent): TaskEvent =>
    event.kind === "artifact"
      ? {
          ...event,
          artifact: {
            ...event.artifact,
            parts: event.artifact.parts.map((part) =>
              part.text === undefined ? part : { ...part, text: part.text.replaceAll("secret", "***") },
            ),
          },
        }
      : { ...event, metadata: { checked: true } };

  test("changes content before it is stored", async () => {
    await using harness = await openHarness({
      agents: scripted(async () => "the secret word"),
      hooks: { transform: redact },
    });
    const task = await harness.send("go");
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: "the *** word" }]);
    expect(JSON.stringify(harness.store.commits)).not.toContain("the secret word");
    expect((await harness.log(task.id)).at(-1)?.event.metadata).toEqual({ checked: true });
  });

  test("cannot change ids, times, roles or the append flag of a chunk", async () => {
    const meddle = (event: TaskEvent): TaskEvent => {
      if (event.kind === "artifact") return { ...event, append: false, lastChunk: true };
      const { message } = event.status;
      const changed = message && {
        ...message,
        messageId: "mine" as MessageId,
        role: "user" as const,
        contextId: "elsewhere" as ContextId,
      };
      return {
        ...event,
        status: {
          ...event.status,
          timestamp: "1999-01-01T00:00:00.000Z",
          ...(changed !== undefined && { message: changed }),
        },
      };
    };
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.status("hello");
        await task.artifact("a").write("1");
        await task.artifact("a").write("2");
      }),
      hooks: { transform: meddle },
    });
    const task = await harness.send("go");
    expect(await harness.story(task.id)).toEqual(["working", "working:hello", "a=1", "a+=2!", "completed"]);
    const [, said] = await harness.log(task.id);
    if (said?.event.kind !== "status") throw new Error("not a status");
    expect(said.event.status.timestamp).not.toContain("1999");
    expect(said.event.status.message).toMatchObject({ role: "agent", contextId: task.contextId, taskId: task.id });
    expect(said.event.status.message?.messageId).not.toBe("mine");
  });

  test("that changes a state, a kind or an artifact id fails the task; the log says why, the caller does not see it", async () => {
    const changes: ((event: TaskEvent) => TaskEvent)[] = [
      (event) => (event.kind === "status" ? { ...event, status: { ...event.status, state: "completed" } } : event),
      (event) =>
        event.kind === "artifact"
          ? { ...event, artifact: { ...event.artifact, artifactId: "other" as ArtifactId } }
          : event,
      (event) => (event.kind === "artifact" ? { kind: "status", status: { state: "working", timestamp: "" } } : event),
    ];
    for (const transform of changes) {
      await using harness = await openHarness({ agents: echo, hooks: { transform } });
      const task = await harness.send("go");
      expect(task.status).toMatchObject({
        state: "failed",
        message: { parts: [{ text: "The agent failed while working on this task." }] },
      });
      expect(task.history?.[0]?.parts).toEqual([{ text: "go" }]);
      expect(harness.logs.some(({ level }) => level === "error")).toBe(true);
    }
  });

  test("that always throws still lets every task end", async () => {
    const transform = (): TaskEvent => {
      throw new Error("broken transform");
    };
    await using harness = await openHarness({
      agents: [
        echo,
        { ...scripted(async () => {}), id: "routed", skills: [{ id: "s", name: "s", description: "s", tags: [] }] },
      ],
      hooks: { transform },
    });
    expect((await harness.send("go")).status.state).toBe("failed");
    const nobody = await harness.send({ parts: [{ text: "x" }], metadata: { skillId: "nope" } }, { agent: "routed" });
    expect(nobody.status.state).toBe("failed");
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0 });
  });

  test("that throws at the last event fails the task", async () => {
    const transform = (event: TaskEvent): TaskEvent => {
      if (event.kind === "status" && event.status.state === "completed") throw new Error("no good");
      return event;
    };
    await using harness = await openHarness({ agents: echo, hooks: { transform } });
    const task = await harness.send("go");
    expect(await harness.story(task.id)).toEqual([
      "working",
      "result=did go!",
      "failed:The agent failed while working on this task.",
    ]);
    expect(task.history?.[0]?.parts).toEqual([{ text: "go" }]);
  });
});

describe("retention", () => {
  test("never deletes a task that has not ended, whatever its age and the number of tasks", async () => {
    await using harness = await openHarness({
      agents: [
        scripted(async (task) => void (await task.ask("Well?"))),
        { ...waits, id: "waits" },
        { ...echo, id: "echo" },
      ],
      retention: { maxTasks: 5, pruneCount: 5, maxAge: 1000, logAge: 500 },
      parkAfter: 2000,
    });
    const asked = await harness.send("go");
    const running = await harness.start("go", { agent: "waits" });
    const finished = await harness.send("go", { agent: "echo" });
    await harness.advance(200_000, 5000);
    expect(await harness.find(finished.id, { agent: "echo" })).toBeUndefined();
    for (let n = 0; n < 10; n += 1) await harness.send("go", { agent: "echo" });
    expect((await harness.get(asked.id)).status.state).toBe("input-required");
    expect((await harness.get(running.taskId, { agent: "waits" })).status.state).toBe("working");
    expect((await harness.send({ taskId: asked.id, parts: [{ text: "yes" }] })).status.state).toBe("completed");
    expect(
      (await harness.engine.list({ scope: harness.scope({ agent: "echo" }), limit: 100, artifacts: false })).total,
    ).toBeLessThanOrEqual(3);
  });
});

describe("the lease of a node", () => {
  test("that cannot be renewed in time ends its runs; they are claimed again after a renewal", async () => {
    const reasons: unknown[] = [];
    const attempts: number[] = [];
    const harness = await openHarness({
      // Health uses the real clock; a lease this short expires immediately.
      leaseMs: 4,
      agents: scripted(async (task) => {
        attempts.push(task.attempt);
        if (task.attempt > 1) return;
        await new Promise<void>((_, reject) =>
          task.signal.addEventListener("abort", () => {
            reasons.push(task.signal.reason);
            reject(task.signal.reason);
          }),
        );
      }),
    });
    await using _closing = harness;
    const ticket = await harness.start("go");
    harness.store.failAlways(new StoreError("busy", "locked"));
    const began = performance.now();
    await harness.until(() => performance.now() - began > 3);
    await harness.advance(2, 1);
    await harness.until(() => reasons.length > 0);
    expect(reasons).toMatchObject([{ reason: "lease-lost" }]);
    await expect(harness.engine.ready()).rejects.toMatchObject({ code: "unavailable" });
    harness.store.failAlways(undefined);
    const settled = harness.settled(ticket);
    await harness.advance(15_000, 100);
    await settled;
    expect((await harness.get(ticket.taskId)).status.state).toBe("completed");
    expect(attempts).toEqual([1, 2]);
  });
});

describe("memory and snapshots", () => {
  test("ended tasks leave nothing in memory", async () => {
    await using harness = await openHarness({ agents: echo });
    await Promise.all(Array.from({ length: 100 }, (_, n) => harness.send(`${n}`)));
    await turns(3);
    expect(harness.engine.counts()).toEqual({
      running: 0,
      queued: 0,
      orphans: 0,
      live: 0,
      subscribers: 0,
      storeRefusals: 0,
    });
  });

  test("a snapshot contains the requested number of messages", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => `${await task.ask("Well?")}!`) });
    const asked = await harness.send("go");
    const historyOf = async (history: number | undefined): Promise<unknown> => {
      const snapshot = await harness.engine.snapshot(harness.scope(), asked.id, { artifacts: false, history });
      return snapshot?.history === undefined ? "none" : JSON.parse(snapshot.history).length;
    };
    expect([await historyOf(undefined), await historyOf(1), await historyOf(0)]).toEqual([2, 1, "none"]);
    await harness.send({ taskId: asked.id, parts: [{ text: "yes" }] });
    await turns(3);
    expect([await historyOf(undefined), await historyOf(2), await historyOf(0)]).toEqual([3, 2, "none"]);
  });
});
