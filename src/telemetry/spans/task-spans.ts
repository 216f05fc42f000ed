import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AttemptStart, DeliveryStart, StepStart, WaitStart } from "../contract.ts";
import { ATTRIBUTE, DELIVERY, INVOKE_AGENT, QUESTION, STEP, WAIT } from "./names.ts";
import type { Attributes } from "./span-data.ts";
import type { NewSpan } from "./span-factory.ts";
import { attemptContext, derivedSpanId, type SpanIdentity, type SpanSubject } from "./span-ids.ts";

// The spans of a task, from what is known at their beginning. Live spans, and those made afterwards from the log and the journal, are
// described by the same functions, so that they have the same ids.

export function attemptSpan(start: AttemptStart): NewSpan {
  return {
    ...taskSpan(start, { kind: "attempt", key: "", attributes: { [ATTRIBUTE.operationName]: INVOKE_AGENT } }),
    parent: start.trace,
    name: `${INVOKE_AGENT} ${start.agent}`,
    isStoredFirst: true,
    continues: earlierAttempt(start),
  };
}

export function stepSpan(start: StepStart): NewSpan {
  return {
    ...taskSpan(start, { kind: "step", key: start.key, attributes: { [ATTRIBUTE.stepName]: start.name } }),
    parent: start.parent,
    name: `${STEP} ${start.name}`,
  };
}

export function waitSpan(start: WaitStart): NewSpan {
  return {
    ...taskSpan(start, { kind: start.kind, key: start.key, attributes: {} }),
    parent: start.parent,
    name: start.kind === "question" ? QUESTION : WAIT,
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

interface Subject {
  readonly kind: SpanSubject;
  readonly key: string;
  readonly attributes: Attributes;
}

/** The key itself is not an attribute: that of a question contains its text. */
function taskSpan(
  start: AttemptStart,
  { kind, key, attributes }: Subject,
): Pick<NewSpan, "kind" | "attributes"> & { spanId: string } {
  const { taskId, contextId, agent, turn, attempt, skill } = start;
  const identity: SpanIdentity = { taskId, turn, attempt, kind, key };
  const spanId = derivedSpanId(identity);
  return {
    spanId,
    kind: "internal",
    attributes: {
      [ATTRIBUTE.taskId]: taskId,
      [ATTRIBUTE.contextId]: contextId,
      [ATTRIBUTE.agentId]: agent,
      [ATTRIBUTE.skill]: skill,
      [ATTRIBUTE.turn]: turn,
      [ATTRIBUTE.attempt]: attempt,
      [ATTRIBUTE.spanKey]: spanId,
      ...attributes,
    },
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
