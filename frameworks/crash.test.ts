import { MemorySaver } from "@langchain/langgraph";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Agent } from "../src/engine/agent/agent.ts";
import type { TaskEvent } from "../src/protocol/event.ts";
import type { TaskId } from "../src/protocol/ids.ts";
import { textOf } from "../src/protocol/part.ts";
import { createMemoryStore } from "../src/store/memory/store.ts";
import { type StoreMethod, StoreWrapper } from "../src/store/store-wrapper.ts";
import { openHarness, turns } from "../src/testing/engine-harness.ts";
import aiSdkAgent from "./agents/ai-sdk.ts";
import langGraphAgent from "./agents/langgraph.ts";
import openAIAgent from "./agents/openai-agents.ts";
import { langGraphAssistant } from "./support/langgraph-assistant.ts";
import {
  openScriptServer,
  type PromptMessage,
  type ScriptedAnswer,
  type ScriptServer,
} from "./support/script-server.ts";

let models: ScriptServer;
beforeAll(async () => {
  models = await openScriptServer();
  models.script = script;
  process.env["SCRIPT_URL"] = models.url;
});
afterAll(async () => {
  delete process.env["SCRIPT_URL"];
  await models[Symbol.asyncDispose]();
});

/** The number of the model call in the conversation: the same for a repeated call. */
const callNumber = (prompt: readonly PromptMessage[]): number =>
  prompt.filter(({ role }) => role === "tool").length + 1;

/** Three model calls: a tool, a tool that needs approval, and the answer. */
function script(prompt: readonly PromptMessage[]): ScriptedAnswer {
  switch (callNumber(prompt)) {
    case 1:
      return { text: ["I ", "look."], calls: [{ id: "c1", name: "weather", input: '{"city":"Ulm"}' }] };
    case 2:
      return { text: ["I ", "pay."], calls: [{ id: "c2", name: "pay", input: '{"amount":5}' }] };
    default:
      return { text: ["All ", "is ", "done."] };
  }
}

const TEXT = "I look.\n\nI pay.\n\nAll is done.";

interface Fault {
  readonly at: number;
  /** Whether the commit is stored, although the process dies before it learns that. */
  readonly isStored: boolean;
}

interface Outcome {
  readonly commits: number;
  readonly text: string;
  readonly streamed: string;
  readonly modelCalls: number;
  readonly tools: readonly string[];
  readonly usage: unknown;
  readonly reports: readonly string[];
}

/** Runs the conversation on an engine that dies at one commit; another engine continues. */
async function converse(agents: Agent, fault: Fault | undefined): Promise<Outcome> {
  models.prompts.length = 0;
  models.tools.length = 0;
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
  let engine = await openHarness({ agents, openStore: (setup) => new Faulty(createMemoryStore(setup)) });
  let id: TaskId | undefined;
  let isAnswered = false;
  const giveUp = performance.now() + 60_000;
  for (;;) {
    if (performance.now() > giveUp) throw new Error("The task did not end within 60 s.");
    await turns(1);
    if (struck) {
      struck = false;
      isAnswered = false;
      await turns(2);
      engine = await engine.crash();
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
    if (task.status.state === "failed") throw new Error(JSON.stringify([task.status, engine.logs]));
    if (task.status.state !== "input-required" || isAnswered || (await engine.shared.inbox(id)).length > 0) continue;
    isAnswered = true;
    void engine.start({ taskId: id, parts: [{ text: "yes" }] }).catch(() => {});
  }
  const task = await engine.get(id);
  const events = (await engine.log(id)).map(({ event }) => event);
  const story = await engine.story(id);
  await engine[Symbol.asyncDispose]();
  return {
    commits,
    text: textOf(task.artifacts?.[0]?.parts ?? []),
    streamed: streamedText(events),
    modelCalls: models.prompts.length,
    tools: [...models.tools],
    usage: task.metadata?.["usage"],
    reports: story.filter((line) => line.startsWith("working:{")),
  };
}

/** The text that a reader of the events has at the end. */
function streamedText(events: readonly TaskEvent[]): string {
  let text = "";
  for (const event of events)
    if (event.kind === "artifact") text = (event.append ? text : "") + textOf(event.artifact.parts);
  return text;
}

describe.each([
  ["the AI SDK", aiSdkAgent],
  ["LangGraph", langGraphAgent],
  ["LangGraph with a checkpointer of its own", langGraphAssistant(new MemorySaver())],
  ["the OpenAI Agents SDK", openAIAgent],
])("a crash at any commit of a conversation with an agent of %s", (_, agent) => {
  test("repeats at most the stage that was cut off, and the text, the reports and the usage are right", async () => {
    // Safe cast: an agent of the built package has the same shape.
    const agents = agent as unknown as Agent;
    const undisturbed = await converse(agents, undefined);
    expect(undisturbed).toMatchObject({ text: TEXT, streamed: TEXT, modelCalls: 3, tools: ["weather", "pay"] });
    expect(undisturbed.reports).toHaveLength(4);
    for (let at = 1; at <= undisturbed.commits; at += 1) {
      for (const isStored of [false, true]) {
        const where = `commit ${at} of ${undisturbed.commits}, stored: ${isStored}`;
        const outcome = await converse(agents, { at, isStored });
        expect(outcome.text, where).toBe(TEXT);
        expect(outcome.streamed, where).toBe(TEXT);
        expect(outcome.usage, where).toEqual(undisturbed.usage);
        expect(outcome.reports, where).toEqual(undisturbed.reports);
        // At most the stage that was cut off is done again.
        expect(outcome.modelCalls, where).toBeLessThanOrEqual(4);
        expect(outcome.tools.length, where).toBeLessThanOrEqual(3);
        expect(new Set(outcome.tools), where).toEqual(new Set(["weather", "pay"]));
      }
    }
  }, 300_000);
});
