import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { ConversationMessage } from "../frameworks/conversation.ts";
import type { FrameworkEvent, FrameworkRun } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { AiSdkAgent, AiSdkMessage, AiSdkStep, AiSdkUsage } from "./ai-sdk-agent.ts";
import { DecidedCalls } from "./decided-calls.ts";
import { OpenCalls } from "./open-calls.ts";
import { StepResults } from "./step-results.ts";
import { answerContent, toolEvent } from "./tool-content.ts";

/** The messages that the agent has added since the last checkpoint. */
interface AiSdkState extends JsonObject {
  readonly messages: readonly JsonValue[];
}

/** Runs the agent from the stored messages, and translates its stream. */
export async function* runAiSdk(
  agent: AiSdkAgent,
  conversation: readonly ConversationMessage[],
  { task, progress }: FrameworkRun,
): AsyncGenerator<FrameworkEvent> {
  const messages: AiSdkMessage[] = [...conversation, ...progress.flatMap(addedMessages)];
  const steps = new StepResults();
  const call = { messages, abortSignal: task.signal, onStepEnd: (step: AiSdkStep) => steps.add(step) };
  const { stream } = await agent.stream(call);
  // Before its first step, the SDK runs the tools that the caller has approved.
  const decided = new DecidedCalls(progress.at(-1)?.answers ?? []);
  const openCalls = new OpenCalls(agent);
  let hasCalls = false;
  let last: readonly object[] = [];
  for await (const part of stream) {
    const event = toolEvent(part);
    if (event !== undefined) {
      openCalls.note(part);
      hasCalls ||= part.type === "tool-call";
      yield event;
      if (decided.add(part)) yield checkpoint([{ role: "tool", content: decided.results }]);
    } else if (part.type === "start-step") {
      hasCalls = false;
      yield { kind: "message" };
    } else if (part.type === "text-delta") yield { kind: "text", text: part.text ?? "" };
    else if (part.type === "tool-approval-request") openCalls.note(part);
    else if (part.type === "finish-step") {
      yield { kind: "usage", usage: { modelCalls: 1, ...(part.usage !== undefined && usageOf(part.usage)) } };
      const { step, release } = await steps.next();
      const { messages: added } = step.response;
      // Without tool calls, or with some that wait for the caller, this was the last step. It is stored together with the end, because a run
      // from here would call the model once more.
      if (hasCalls && openCalls.questions().length === 0) yield checkpoint(added);
      else last = added;
      release();
    } else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw new Error(`The agent was aborted. ${part.reason ?? ""}`);
    else if (part.type === "finish") yield { kind: "end", state: stateOf(last), questions: openCalls.questions() };
  }
}

function checkpoint(messages: readonly object[]): FrameworkEvent {
  return { kind: "checkpoint", state: stateOf(messages) };
}

function stateOf(messages: readonly object[]): AiSdkState {
  return { messages: messages.map(jsonOf) };
}

function addedMessages({ state, answers }: FrameworkRun["progress"][number]): readonly AiSdkMessage[] {
  if (answers !== undefined) return [{ role: "tool", content: answers.flatMap(answerContent) }];
  // Safe casts: `stateOf` made the state of messages of the SDK.
  return (state as AiSdkState).messages as unknown as readonly AiSdkMessage[];
}

function usageOf({
  inputTokens,
  outputTokens,
  inputTokenDetails,
  outputTokenDetails,
}: AiSdkUsage): Record<string, number> {
  const counters = {
    inputTokens,
    outputTokens,
    cachedInputTokens: inputTokenDetails?.cacheReadTokens,
    reasoningTokens: outputTokenDetails?.reasoningTokens,
  };
  return Object.fromEntries(
    Object.entries(counters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
