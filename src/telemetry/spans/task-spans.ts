import type { TaskState } from "../../protocol/state.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AttemptStart, DeliveryStart, StepCall, StepCallResult, StepStart, WaitStart } from "../contract.ts";
import {
  ARTIFACT_EVENT,
  ATTRIBUTE,
  CHAT,
  DELIVERY,
  EXECUTE_TOOL,
  INVOKE_AGENT,
  QUESTION,
  STATE_NAMES,
  STATUS_EVENT,
  STEP,
  taskAttributes,
  WAIT,
} from "./names.ts";
import { sharedAttributes } from "./shared-attributes.ts";
import type { Attributes, AttributeValue, SharedAttributes } from "./span-data.ts";
import type { NewSpan } from "./span-factory.ts";
import { attemptContext, derivedSpanId, type SpanIdentity, type SpanSubject } from "./span-ids.ts";

// The spans of a task, from what is known at their beginning. Live spans, and those made afterwards from the log and the journal, are
// described by the same functions, so that they have the same ids.

export function attemptSpan(start: AttemptStart): NewSpan {
  return {
    parent: start.trace,
    spanId: derivedSpanId(identityOf(start, "attempt", "")),
    name: attemptName(start.agent),
    kind: "internal",
    shared: attemptShared(start.agent, start.turn, start.attempt),
    attributes: ownAttributes(start),
    isStoredFirst: true,
    continues: earlierAttempt(start),
  };
}

export function stepSpan(start: StepStart): NewSpan {
  const spanId = derivedSpanId(identityOf(start, "step", start.key));
  const attributes = ownAttributes(start);
  attributes[ATTRIBUTE.stepName] = start.name;
  const { parent, call } = start;
  const shared = workShared(start.agent, start.turn, start.attempt);
  if (call === undefined)
    return { parent, spanId, name: `${STEP} ${start.name}`, kind: "internal", shared, attributes };
  addCall(attributes, call);
  const operation = call.kind === "model" ? CHAT : EXECUTE_TOOL;
  const kind = call.kind === "model" ? "client" : "internal";
  return { parent, spanId, name: `${operation} ${call.name}`, kind, shared, attributes };
}

function addCall(attributes: Record<string, AttributeValue | undefined>, call: StepCall): void {
  if (call.kind === "model") {
    attributes[ATTRIBUTE.operationName] = CHAT;
    attributes[ATTRIBUTE.requestModel] = call.name;
    attributes[ATTRIBUTE.provider] = call.provider;
    return;
  }
  attributes[ATTRIBUTE.operationName] = EXECUTE_TOOL;
  attributes[ATTRIBUTE.toolName] = call.name;
  attributes[ATTRIBUTE.toolCallId] = call.id;
  attributes[ATTRIBUTE.toolType] = "function";
}

/** The attributes of a model call or a tool call that are known at its end. */
export function callResultAttributes(result: StepCallResult): Attributes {
  return {
    [ATTRIBUTE.responseModel]: result.model,
    [ATTRIBUTE.finishReasons]: result.finishReason === undefined ? undefined : [result.finishReason],
    [ATTRIBUTE.inputTokens]: result.inputTokens,
    [ATTRIBUTE.cachedInputTokens]: result.cachedInputTokens,
    [ATTRIBUTE.outputTokens]: result.outputTokens,
    [ATTRIBUTE.reasoningTokens]: result.reasoningTokens,
  };
}

export function waitSpan(start: WaitStart): NewSpan {
  return {
    parent: start.parent,
    spanId: derivedSpanId(identityOf(start, start.kind, start.key)),
    name: start.kind === "question" ? QUESTION : WAIT,
    kind: "internal",
    shared: workShared(start.agent, start.turn, start.attempt),
    attributes: ownAttributes(start),
  };
}

export function deliverySpan({ taskId, agent, webhook, seq, attempt, trace }: DeliveryStart): NewSpan {
  return {
    parent: trace,
    spanId: derivedSpanId({ taskId, attempt, kind: "delivery", key: `${webhook}:${seq}` }),
    name: DELIVERY,
    kind: "client",
    attributes: {
      [ATTRIBUTE.taskId]: taskId,
      [ATTRIBUTE.agentId]: agent,
      [ATTRIBUTE.webhook]: webhook,
      [ATTRIBUTE.seq]: seq,
      [ATTRIBUTE.deliveryAttempt]: attempt,
    },
  };
}

/** The name of the span event for an event of the log. `state`: `undefined` for artifact chunks. */
export function eventName(state: TaskState | undefined): string {
  return state === undefined ? ARTIFACT_EVENT : STATUS_EVENT;
}

export function eventAttributes(seq: number, state: TaskState | undefined): SharedAttributes {
  return state === undefined ? artifactShared(ARTIFACT_EVENT, seq) : statusShared(STATE_NAMES[state], seq);
}

const artifactShared = sharedAttributes((_name, seq) => ({ [ATTRIBUTE.seq]: seq }));
const statusShared = sharedAttributes((state, seq) => ({ [ATTRIBUTE.seq]: seq, [ATTRIBUTE.taskState]: state }));

function identityOf({ taskId, turn, attempt }: AttemptStart, kind: SpanSubject, key: string): SpanIdentity {
  return { taskId, turn, attempt, kind, key };
}

/** The key of the work is not an attribute: that of a question contains its text. */
function ownAttributes({ taskId, contextId, skill }: AttemptStart): Record<string, AttributeValue | undefined> {
  return taskAttributes(taskId, contextId, skill);
}

/** Each agent's name of attempts is one text, which is written many times. */
const attemptNames = new Map<string, string>();
const MAX_NAMES = 256;

function attemptName(agent: string): string {
  const known = attemptNames.get(agent);
  if (known !== undefined) return known;
  const name = `${INVOKE_AGENT} ${agent}`;
  if (attemptNames.size < MAX_NAMES) attemptNames.set(agent, name);
  return name;
}

/** Of an attempt, by agent, turn and attempt. */
const attemptShared = sharedAttributes((agent, turn, attempt) => ({
  [ATTRIBUTE.operationName]: INVOKE_AGENT,
  [ATTRIBUTE.agentId]: agent,
  [ATTRIBUTE.turn]: turn,
  [ATTRIBUTE.attempt]: attempt,
}));

/** Of work inside an attempt, by agent, turn and attempt. */
const workShared = sharedAttributes((agent, turn, attempt) => ({
  [ATTRIBUTE.agentId]: agent,
  [ATTRIBUTE.turn]: turn,
  [ATTRIBUTE.attempt]: attempt,
}));

/** The attempt before; for the first attempt of a later turn, the first attempt of the turn before. */
function earlierAttempt({ trace, taskId, turn, attempt }: AttemptStart): TraceContext | undefined {
  if (trace === undefined || (turn === 1 && attempt === 1)) return undefined;
  return attemptContext(
    trace,
    attempt > 1 ? { taskId, turn, attempt: attempt - 1 } : { taskId, turn: turn - 1, attempt: 1 },
  );
}
