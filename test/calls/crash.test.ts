import { expect, test } from "vitest";
import { RemoteError } from "../../src/client/http/errors.ts";
import type { Engine } from "../../src/engine/api.ts";
import type { Callees } from "../../src/engine/call/callee.ts";
import { createDeferred } from "../../src/internal/deferred.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createCallees } from "../../src/platform/calls/callees.ts";
import { callRelationsOf } from "../../src/protocol/calls/call-tree.ts";
import type { MessageId, TaskId } from "../../src/protocol/ids.ts";
import { textOf } from "../../src/protocol/part.ts";
import { isTerminal } from "../../src/protocol/state.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { type StoreMethod, StoreWrapper } from "../../src/store/store-wrapper.ts";
import { type EngineHarness, openHarness, turns } from "../../src/testing/engine-harness.ts";
import { sampled } from "../fixtures/budget.ts";
import { agent } from "./world.ts";

interface Fault {
  readonly at: number;
  readonly how: "not applied" | "applied, unanswered" | "answered";
}

/** A tree of seven tasks: a root, two in the middle, four leaves; one leaf asks, and the question goes up to the root. */
async function runTree(fault: Fault | undefined) {
  const started = new Map<string, number>();
  const began = (id: string): void => void started.set(id, (started.get(id) ?? 0) + 1);
  const leaf = agent("leaf", async function* (task) {
    await task.step("begin", () => began(`leaf ${task.id}`));
    await task.usage({ totalTokens: 10 });
    yield task.text.toUpperCase();
    if (task.text === "c") yield `(${await task.ask("Sure?")})`;
  });
  const middle = agent("middle", async (task) => {
    await task.step("begin", () => began(`middle ${task.id}`));
    const results = await Promise.all(Array.from(task.text, (letter) => task.call("leaf", letter)));
    return results.map(({ text }) => text).join("");
  });
  const root = agent("root", async function* (task) {
    await task.usage({ totalTokens: 1 });
    const calls = ["ab", "cd"].map((text) => task.call("middle", text));
    for (const call of calls) for await (const event of call) if (event.kind === "artifact") yield event.text;
  });
  let commits = 0;
  let struck = false;
  class Faulty extends StoreWrapper {
    protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
      if (method !== "commit") return call();
      commits += 1;
      if (commits !== fault?.at) return call();
      struck = true;
      if (fault.how === "not applied") return new Promise<never>(() => {});
      const result = await call();
      return fault.how === "answered" ? result : new Promise<never>(() => {});
    }
  }
  const agents = [root, middle, leaf];
  const engineOf = { current: undefined as Engine | undefined };
  // A new engine starts its tasks before the harness returns it.
  let isReady = createDeferred<void>();
  const found = createCallees({
    ...{ agents, serverId: "s", logger: SILENT_LOGGER, newContextId: () => "", sign: async () => "" },
    engine: () => {
      if (engineOf.current === undefined) throw new Error("No engine.");
      return engineOf.current;
    },
    remotes: { client: () => Promise.reject(new RemoteError("network", "none")), close: () => {} },
    authorize: () => undefined,
  });
  const callees: Callees = {
    label: (target) => found.label(target),
    sign: (ancestry, messageId) => found.sign(ancestry, messageId),
    find: (target, origin) => isReady.promise.then(() => found.find(target, origin)),
    abandon: (child, origin) => isReady.promise.then(() => found.abandon(child, origin)),
  };
  let harness: EngineHarness = await openHarness({
    ...{ agents, callees, serverId: "s" },
    openStore: (setup) => new Faulty(createMemoryStore(setup)),
  });
  const first = harness;
  engineOf.current = harness.engine;
  isReady.resolve();
  let id: TaskId | undefined;
  let answered = 0;
  const giveUp = performance.now() + 5_000;
  for (;;) {
    if (performance.now() > giveUp)
      throw new Error(
        `The task did not end: ${JSON.stringify([fault, id && (await soon(harness.find(id))), commits, harness.logs.slice(-8)])}`,
      );
    await turns(1);
    await harness.clock.advance(20);
    if (struck) {
      struck = false;
      await turns(2);
      isReady = createDeferred<void>();
      harness = await harness.crash();
      engineOf.current = harness.engine;
      isReady.resolve();
    }
    if (id === undefined) {
      const go = { messageId: "go" as MessageId, role: "user", parts: [{ text: "go" }] } as const;
      const begun = await soon(harness.begin(go, { idempotencyWindow: 60_000 }));
      id = begun?.taskId;
      continue;
    }
    const task = await soon(harness.find(id));
    if (task === undefined) continue;
    if (task.status.state === "input-required" && task.status.message !== undefined && answered < 5) {
      answered += 1;
      const answer = {
        messageId: "answer" as MessageId,
        role: "user",
        parts: [{ text: "yes" }],
        taskId: task.id,
      } as const;
      await soon(harness.begin(answer, { idempotencyWindow: 60_000 }));
    }
    if (isTerminal(task.status.state)) {
      const listed = (of: string) =>
        harness.engine.list({ scope: { ...harness.scope(), agent: of }, limit: 100, artifacts: false, history: 0 });
      const [leaves, middles] = [await listed("leaf"), await listed("middle")];
      const text = textOf((task.artifacts ?? []).flatMap(({ parts }) => parts));
      const usage = callRelationsOf(task.metadata)?.usage;
      await first[Symbol.asyncDispose]();
      return { commits, state: task.status.state, text, usage, tasks: [middles.total, leaves.total], started };
    }
  }
}

/** A call may never return, because its process is cut off. */
async function soon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work.catch(() => undefined), turns(100).then(() => undefined)]);
}

test("a tree of calls survives a crash at every commit: nothing is called twice, nothing is lost, usage is exact", async () => {
  const undisturbed = await runTree(undefined);
  expect(undisturbed).toMatchObject({
    state: "completed",
    text: "ABC(yes)D",
    usage: { totalTokens: 41 },
    tasks: [2, 4],
  });
  const hows = ["not applied", "applied, unanswered", "answered"] as const;
  const step = sampled(6, 1);
  for (let at = 1; at <= undisturbed.commits; at += step) {
    for (const [index, how] of hows.entries()) {
      if (sampled(1, 0) === 1 && (at + index) % 2 === 1) continue;
      const outcome = await runTree({ at, how });
      expect({ at, how, ...outcome }).toMatchObject({
        state: "completed",
        text: "ABC(yes)D",
        usage: { totalTokens: 41 },
        tasks: [2, 4],
      });
    }
  }
}, 120_000);
