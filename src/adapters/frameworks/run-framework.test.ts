import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "../../engine/agent/agent.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { toolResultPart, toolUseOf } from "../../protocol/tool-part.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { type StoreMethod, StoreWrapper } from "../../store/store-wrapper.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { FrameworkEvent, FrameworkRun } from "./framework.ts";
import { type AdapterOptions, splitOptions } from "./framework-options.ts";
import { runFramework } from "./run-framework.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

const text = (words: string): FrameworkEvent => ({ kind: "text", text: words });
const checkpoint = (state: JsonObject = {}): FrameworkEvent => ({ kind: "checkpoint", state });
const end: FrameworkEvent = { kind: "end", state: {}, questions: [] };
const result = (task: Task) => textOf(task.artifacts?.[0]?.parts ?? []);
const reports = async (id: TaskId) => (await harness.story(id)).filter((line) => line.startsWith("working:{"));

function frameworkAgent(
  run: (run: FrameworkRun) => Iterable<FrameworkEvent> | AsyncIterable<FrameworkEvent>,
  options: Partial<AdapterOptions> = {},
): Agent {
  const { adapter } = splitOptions({ name: "x", description: "x", version: "1", ...options });
  return scripted((task) =>
    runFramework(
      task,
      {
        async *run(place) {
          yield* run(place);
        },
      },
      adapter,
    ),
  );
}

describe("an agent of a framework", () => {
  test("separates the texts of two messages, not the pieces of one", async () => {
    const events = [
      text("I "),
      text("think."),
      { kind: "message" } as const,
      text("I know."),
      checkpoint(),
      text("Yes."),
      end,
    ];
    harness = await openHarness({ agents: frameworkAgent(() => events) });
    expect(result(await harness.send("go"))).toBe("I think.\n\nI know.\n\nYes.");
  });

  test("reports calls under ids of their own if a model repeats ids, and each call once", async () => {
    const call: FrameworkEvent = { kind: "tool-call", id: "0", name: "look", input: { n: 1 } };
    const done: FrameworkEvent = { kind: "tool-result", id: "0", output: 1 };
    const events = [
      call,
      call,
      done,
      done,
      checkpoint(),
      { ...call, input: {} },
      { kind: "tool-failure", id: "0", error: "No." },
      end,
    ];
    harness = await openHarness({ agents: frameworkAgent(() => events as FrameworkEvent[]) });
    const task = await harness.send("go");
    expect(await reports(task.id)).toEqual([
      'working:{"toolUseId":"0","name":"look","input":{"n":1}}',
      'working:{"toolUseId":"0","result":1}',
      'working:{"toolUseId":"0#2","name":"look","input":{}}',
      'working:{"toolUseId":"0#2","result":{"isError":true,"message":"No."}}',
    ]);
  });

  test("adds up usage, and leaves out what is not a valid number", async () => {
    const usage = (values: Record<string, number>): FrameworkEvent => ({ kind: "usage", usage: values });
    const events = [usage({ inputTokens: 1 }), usage({ inputTokens: 2, outputTokens: Number.NaN, cost: -1 }), end];
    harness = await openHarness({ agents: frameworkAgent(() => events) });
    expect((await harness.send("go")).metadata).toEqual({ usage: { inputTokens: 3 } });
  });

  test("gets answers of each kind", async () => {
    const seen: unknown[] = [];
    harness = await openHarness({
      agents: frameworkAgent(({ progress }) => {
        const answers = progress.at(-1)?.answers;
        if (answers !== undefined) {
          seen.push(answers);
          return [{ kind: "output", output: { done: true } }, end];
        }
        const questions = [
          { kind: "tool", key: "t", name: "clipboard", input: { n: 1 } },
          { kind: "approval", key: "a", name: "pay", input: {} },
          { kind: "input", key: "i", question: "Which size?" },
        ] as const;
        return [{ kind: "end", state: {}, questions }];
      }),
    });
    const asked = await harness.send("go");
    const parts = asked.status.message?.parts ?? [];
    const use = parts.map(toolUseOf).find((part) => part !== undefined);
    const requests = asked.status.message?.metadata?.["inputRequests"] as { requestId: string; text?: string }[];
    expect(JSON.stringify(asked.status.message)).toContain("Run the tool pay?");
    expect(requests).toHaveLength(3);
    await harness.start({
      taskId: asked.id,
      parts: [toolResultPart({ toolUseId: use?.toolUseId ?? "", result: "copied" })],
    });
    for (const { requestId } of requests) {
      if (requestId === use?.toolUseId) continue;
      const metadata = { inputRequest: { requestId } };
      await harness.start({ taskId: asked.id, parts: [{ text: "yes" }], metadata }).catch(() => {});
    }
    await harness.untilState(asked.id, "completed");
    expect(seen.at(-1)).toEqual([
      { kind: "tool", key: "t", name: "clipboard", output: "copied" },
      { kind: "approval", key: "a", decision: { approved: true } },
      { kind: "input", key: "i", value: "yes" },
    ]);
    expect((await harness.get(asked.id)).artifacts?.[0]?.parts).toMatchObject([{ data: { done: true } }]);
  });

  test("that ends without a result, or throws, fails the task without the error's text", async () => {
    harness = await openHarness({
      agents: frameworkAgent(({ task }) => {
        if (task.text === "throw") throw new Error("secret");
        return [text("Half")];
      }),
    });
    for (const message of ["throw", "stop"]) {
      const { status } = await harness.send(message);
      expect(status.state).toBe("failed");
      expect(status.message?.parts).toMatchObject([{ text: "The agent failed." }, { data: { code: "agent-failed" } }]);
    }
    expect(harness.logs.filter(({ message }) => message === "The framework failed")).toHaveLength(2);
  });
});

/** Three stages, an approval in the middle. What it did before is only known from its stored states. */
function* threeStages({ progress }: FrameworkRun, work: string[]): Generator<FrameworkEvent> {
  const states = progress.flatMap(({ state }) => (state === undefined ? [] : [state["stage"]]));
  if (!states.includes("looked")) {
    work.push("look");
    yield text("I look.");
    yield { kind: "tool-call", id: "c", name: "look", input: {} };
    yield { kind: "tool-result", id: "c", output: "seen" };
    yield { kind: "usage", usage: { modelCalls: 1 } };
    yield checkpoint({ stage: "looked" });
  }
  if (progress.at(-1)?.answers === undefined && !states.includes("paid")) {
    work.push("ask");
    yield text("May I?");
    const questions = [{ kind: "approval", key: "p", name: "pay", input: {} }] as const;
    yield { kind: "end", state: { stage: "asked" }, questions };
    return;
  }
  if (!states.includes("paid")) {
    work.push("pay");
    yield { kind: "tool-call", id: "c", name: "pay", input: {} };
    yield { kind: "tool-result", id: "c", output: "paid" };
    yield checkpoint({ stage: "paid" });
  }
  work.push("end");
  yield text("Done.");
  yield { kind: "usage", usage: { modelCalls: 1 } };
  yield end;
}

interface Fault {
  readonly at: number;
  readonly isStored: boolean;
}

async function converse(
  fault: Fault | undefined,
): Promise<{ commits: number; work: string[]; task: Task; story: string[] }> {
  const work: string[] = [];
  let commits = 0;
  let struck = false;
  class Faulty extends StoreWrapper {
    protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
      if (method !== "commit") return call();
      commits += 1;
      if (commits !== fault?.at) return call();
      struck = true;
      if (fault.isStored) await call();
      return new Promise<never>(() => {});
    }
  }
  harness = await openHarness({
    agents: frameworkAgent((run) => threeStages(run, work)),
    openStore: (setup) => new Faulty(createMemoryStore(setup)),
  });
  let id: TaskId | undefined;
  let isAnswered = false;
  for (let tries = 0; tries < 2000; tries += 1) {
    await turns(1);
    if (struck) {
      struck = false;
      isAnswered = false;
      harness = await harness.crash();
    }
    if (id === undefined) {
      id = (await harness.begin("go")).taskId;
      continue;
    }
    const task = await harness.find(id);
    // The task was never stored: the caller sends again.
    if (task === undefined && tries % 20 === 19) id = undefined;
    if (task?.status.state === "completed") {
      const story = (await harness.story(task.id)).map((line) =>
        line.replace(/!$/, "").replace(/"requestId":"[^"]+"/, ""),
      );
      await harness[Symbol.asyncDispose]();
      return { commits, work, task, story };
    }
    if (task?.status.state !== "input-required" || isAnswered || (await harness.shared.inbox(task.id)).length > 0)
      continue;
    isAnswered = true;
    void harness.start({ taskId: task.id, parts: [{ text: "yes" }] }).catch(() => {});
  }
  throw new Error(`The task did not end: ${JSON.stringify([fault, work])}`);
}

describe("a crash at any commit of an agent of a framework", () => {
  test("repeats at most one stage, and readers see the same events", async () => {
    const undisturbed = await converse(undefined);
    expect(result(undisturbed.task)).toBe("I look.\n\nMay I?\n\nDone.");
    expect(undisturbed.work).toEqual(["look", "ask", "pay", "end"]);
    for (let at = 1; at <= undisturbed.commits; at += 1) {
      for (const isStored of [false, true]) {
        const where = `commit ${at} of ${undisturbed.commits}, stored: ${isStored}`;
        const { work, task, story } = await converse({ at, isStored });
        expect(result(task), where).toBe("I look.\n\nMay I?\n\nDone.");
        expect(story, where).toEqual(undisturbed.story);
        expect(task.metadata, where).toEqual({ usage: { modelCalls: 2, toolCalls: 2 } });
        expect(new Set(work), where).toEqual(new Set(undisturbed.work));
        expect(work.length, where).toBeLessThanOrEqual(5);
      }
    }
  });
});
