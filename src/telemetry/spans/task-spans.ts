import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AttemptStart, DeliveryStart, StepCall, StepCallResult, StepStart, WaitStart } from "../contract.ts";
import { ATTRIBUTE, CHAT, DELIVERY, EXECUTE_TOOL, INVOKE_AGENT, QUESTION, STEP, WAIT } from "./names.ts";
import type { Attributes, AttributeValue } from "./span-data.ts";
import type { NewSpan } from "./span-factory.ts";
import { attemptContext, derivedSpanId, type SpanIdentity, type SpanSubject } from "./span-ids.ts";

// The spans of a task, from what is known at their beginning. Live spans, and those made afterwards from the log and the journal, are
// described by the same functions, so that they have the same ids.

export function attemptSpan(start: AttemptStart): NewSpan {
  const spanId = derivedSpanId(identityOf(start, "attempt", ""));
  const attributes = taskAttributes(start, spanId);
  attributes[ATTRIBUTE.operationName] = INVOKE_AGENT;
  return {
    parent: start.trace,
    spanId,
    name: `${INVOKE_AGENT} ${start.agent}`,
    kind: "internal",
    attributes,
    isStoredFirst: true,
    continues: earlierAttempt(start),
  };
}

export function stepSpan(start: StepStart): NewSpan {
  const spanId = derivedSpanId(identityOf(start, "step", start.key));
  const attributes = taskAttributes(start, spanId);
  attributes[ATTRIBUTE.stepName] = start.name;
  const { parent, call } = start;
  if (call === undefined) return { parent, spanId, name: `${STEP} ${start.name}`, kind: "internal", attributes };
  addCall(attributes, call);
  const operation = call.kind === "model" ? CHAT : EXECUTE_TOOL;
  const kind = call.kind === "model" ? "client" : "internal";
  return { parent, spanId, name: `${operation} ${call.name}`, kind, attributes };
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
  const spanId = derivedSpanId(identityOf(start, start.kind, start.key));
  return {
    parent: start.parent,
    spanId,
    name: start.kind === "question" ? QUESTION : WAIT,
    kind: "internal",
    attributes: taskAttributes(start, spanId),
  };
}

export function deliverySpan({ taskId, agent, webhook, seq, attempt, trace }: DeliveryStart): NewSpan {
  const spanId = derivedSpanId({ taskId, attempt, kind: "delivery", key: `${webhook}:${seq}` });
  return {
    parent: trace,
    spanId,
    name: DELIVERY,
    kind: "client",
    attributes: {
      [ATTRIBUTE.taskId]: taskId,
      [ATTRIBUTE.agentId]: agent,
      [ATTRIBUTE.webhook]: webhook,
      [ATTRIBUTE.seq]: seq,
      [ATTRIBUTE.deliveryAttempt]: attempt,
      [ATTRIBUTE.spanKey]: spanId,
    },
  };
}

function identityOf({ taskId, turn, attempt }: AttemptStart, kind: SpanSubject, key: string): SpanIdentity {
  return { taskId, turn, attempt, kind, key };
}

/** The key itself is not an attribute: that of a question contains its text. */
function taskAttributes(start: AttemptStart, spanId: string): Record<string, AttributeValue | undefined> {
  return {
    [ATTRIBUTE.taskId]: start.taskId,
    [ATTRIBUTE.contextId]: start.contextId,
    [ATTRIBUTE.agentId]: start.agent,
    [ATTRIBUTE.skill]: start.skill,
    [ATTRIBUTE.turn]: start.turn,
    [ATTRIBUTE.attempt]: start.attempt,
    [ATTRIBUTE.spanKey]: spanId,
  };
}

/** The attempt before; for the first attempt of a later turn, the first attempt of the turn before. */
function earlierAttempt({ trace, taskId, turn, attempt }: AttemptStart): TraceContext | undefined {
  if (trace === undefined || (turn === 1 && attempt === 1)) return undefined;
  return attemptContext(
    trace,
    attempt > 1 ? { taskId, turn, attempt: attempt - 1 } : { taskId, turn: turn - 1, attempt: 1 },
  );
}
