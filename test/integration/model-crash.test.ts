import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { modelAgent } from "../../src/adapters/models/model-agent.ts";
import { type ModelServer, openModelServer, type WireMessage } from "../../src/adapters/models/test/model-server.ts";
import { tool } from "../../src/adapters/models/tool.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { textOf } from "../../src/protocol/part.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { type StoreMethod, StoreWrapper } from "../../src/store/store-wrapper.ts";
import { type EngineHarness, openHarness, turns } from "../../src/testing/engine-harness.ts";
import { sampled } from "../fixtures/budget.ts";

let harness: EngineHarness | undefined;
let server: ModelServer | undefined;
afterEach(async () => {
  await harness?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  harness = undefined;
  server = undefined;
});

/** The number of the model call in the conversation, starting at 1: stateless, so it is the same for a repeated call. */
const callNumber = (messages: readonly WireMessage[]): number =>
  messages.filter(({ role }) => role === "assistant").length + 1;

const use = (name: string, input: object = {}) => ({ id: `${name}-id`, name, input: JSON.stringify(input) });

/** Five model calls: a repeatable tool, one that is not, both at once, one that needs approval, and the answer. */
function script(messages: readonly WireMessage[]) {
  switch (callNumber(messages)) {
    case 1:
      return { text: ["I ", "look. "], calls: [use("look", { q: "a" })] };
    case 2:
      return { text: ["I ", "pay. "], calls: [use("pay", { n: 1 })] };
    case 3:
      return { text: ["Both. "], calls: [use("look", { q: "b" }), use("pay", { n: 2 })] };
    case 4:
      return { text: ["May I? "], calls: [use("refund", { n: 3 })] };
    default:
      return { text: ["All ", "is ", "done."] };
  }
}

const TEXT = "I look. \n\nI pay. \n\nBoth. \n\nMay I? \n\nAll is done.";

interface Fault {
  readonly at: number;
  readonly how: "not applied" | "applied, unanswered" | "answered";
}

interface Outcome {
  readonly commits: number;
  readonly text: string;
  readonly streamed: string;
  /** Stored model calls that were made again. */
  readonly repeatedModelCalls: readonly number[];
  /** How often each call of a tool that must not be repeated has run. */
  readonly payments: ReadonlyMap<string, number>;
  readonly modelCalls: number;
  readonly usage: unknown;
}

async function converse(fault: Fault | undefined): Promise<Outcome> {
  const modelServer = await openModelServer(script);
  server = modelServer;
  const payments = new Map<string, number>();
  const pay = (n: number) => {
    payments.set(String(n), (payments.get(String(n)) ?? 0) + 1);
    return { paid: n };
  };
  const amount = z.object({ n: z.number() });
  const agents = modelAgent({
    name: "Clerk",
    description: "Pays.",
    version: "1",
    model: modelServer.model,
    tools: {
      look: tool({
        description: "Looks.",
        input: z.object({ q: z.string() }),
        repeatable: true,
        execute: ({ q }) => `saw ${q}`,
      }),
      pay: tool({ description: "Pays.", input: amount, execute: ({ n }) => pay(n) }),
      refund: tool({ description: "Pays back.", input: amount, approve: true, execute: ({ n }) => pay(n) }),
    },
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
  let engine = await openHarness({ agents, openStore: (setup) => new Faulty(createMemoryStore(setup)) });
  harness = engine;
  let id: TaskId | undefined;
  let answered = false;
  let stored: readonly number[] = [];
  let made: readonly number[] = [];
  const giveUp = performance.now() + 20_000;
  for (;;) {
    if (performance.now() > giveUp) throw new Error("The task did not end within 20 s.");
    await turns(1);
    if (struck) {
      struck = false;
      answered = false;
      await turns(2);
      stored = id === undefined ? [] : await storedModelCalls(engine, id);
      made = modelServer.calls.map(callNumber);
      engine = await engine.crash();
      harness = engine;
    }
    if (id === undefined) {
      id = (await engine.begin("go")).taskId;
      continue;
    }
    const task = await engine.find(id);
    if (task === undefined) {
      // The task was never stored: the caller sends again.
      if (fault !== undefined && commits >= fault.at && !struck) id = undefined;
      continue;
    }
    if (task.status.state === "completed") break;
    if (task.status.state === "failed") throw new Error(JSON.stringify(task.status));
    if (task.status.state !== "input-required" || answered || (await engine.shared.inbox(id)).length > 0) continue;
    answered = true;
    void engine.start({ taskId: id, parts: [{ text: "yes" }] }).catch(() => {});
  }
  const task = await engine.get(id);
  const log = await engine.log(id);
  const after = modelServer.calls.map(callNumber).slice(made.length);
  const outcome = {
    commits,
    text: textOf(task.artifacts?.[0]?.parts ?? []),
    streamed: folded(log.map(({ event }) => event)),
    repeatedModelCalls: after.filter((number) => stored.includes(number)),
    payments,
    modelCalls: modelServer.calls.length,
    usage: task.metadata?.["usage"],
  };
  await engine[Symbol.asyncDispose]();
  await modelServer[Symbol.asyncDispose]();
  harness = undefined;
  server = undefined;
  return outcome;
}

async function storedModelCalls(engine: EngineHarness, id: TaskId): Promise<readonly number[]> {
  const keys = (await engine.shared.steps(id)).map(({ key }) => /^step:model#(\d+)$/.exec(key)?.[1]);
  return keys.flatMap((number) => (number === undefined ? [] : [Number(number)]));
}

/** The text that a reader of the events has at the end. */
function folded(events: Awaited<ReturnType<EngineHarness["log"]>>[number]["event"][]): string {
  let text = "";
  for (const event of events)
    if (event.kind === "artifact") text = (event.append ? text : "") + textOf(event.artifact.parts);
  return text;
}

describe("a crash at any commit of a conversation with five model calls", () => {
  test("repeats no stored model call and no tool that may not be repeated, and the text is right", async () => {
    const undisturbed = await converse(undefined);
    expect(undisturbed).toMatchObject({ text: TEXT, streamed: TEXT, modelCalls: 5 });
    expect([...undisturbed.payments.values()]).toEqual([1, 1, 1]);
    const faults = Array.from({ length: undisturbed.commits }, (_, index) => index + 1).flatMap((at) =>
      (["not applied", "applied, unanswered", "answered"] as const).map((how): Fault => ({ at, how })),
    );
    // The sample has every kind of fault, spread over the conversation.
    const step = Math.max(1, Math.floor(faults.length / sampled(13, faults.length)));
    for (const fault of faults.filter((_, index) => index % step === 0)) {
      const where = `commit ${fault.at} of ${undisturbed.commits}, ${fault.how}`;
      const outcome = await converse(fault);
      expect(outcome.text, where).toBe(TEXT);
      expect(outcome.streamed, where).toBe(TEXT);
      expect(outcome.repeatedModelCalls, where).toEqual([]);
      // At most the call that was cut off is made again.
      expect(outcome.modelCalls, where).toBeLessThanOrEqual(6);
      for (const count of outcome.payments.values()) expect(count, where).toBe(1);
      expect(outcome.usage, where).toEqual(undisturbed.usage);
    }
  }, 600_000);
});
