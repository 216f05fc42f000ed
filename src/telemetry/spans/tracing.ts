import type { TaskState } from "../../protocol/state.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type {
  AttemptEnd,
  CallEnd,
  CallStart,
  DeliveryEnd,
  RequestEnd,
  RequestStart,
  Span,
  Telemetry,
  WaitEnd,
  WorkEnd,
} from "../contract.ts";
import { nextRequestOf, ownedBy } from "../telemetry-of.ts";
import { ATTRIBUTE, callAttributes, dialectNames, METHODS, UNKNOWN_METHOD } from "./names.ts";
import { sharedAttributes } from "./shared-attributes.ts";
import type { NewSpan, OpenSpan, SpanOutcome, StartSpan } from "./span-factory.ts";
import { requestSpanId } from "./span-ids.ts";
import {
  attemptSpan,
  callResultAttributes,
  deliverySpan,
  eventAttributes,
  eventName,
  stepSpan,
  waitSpan,
} from "./task-spans.ts";

/** Turns what a server or a client does into spans. Message contents, credentials and error texts are in none of them. */
export function createTracing(start: StartSpan): Telemetry {
  /** A span as callers of the interface see it. `outcome` describes how it ended. */
  class Traced<End> implements Span<End> {
    readonly open: OpenSpan;
    readonly #outcome: (end: End) => SpanOutcome;
    #trace: TraceContext | undefined;
    constructor(created: NewSpan, outcome: (end: End) => SpanOutcome) {
      this.open = start(created);
      this.#outcome = outcome;
    }
    get trace(): TraceContext {
      this.#trace ??= ownedBy(this.open.trace, telemetry);
      return this.#trace;
    }
    end(end: End): void {
      this.open.finish(this.#outcome(end));
    }
  }
  class TracedAttempt extends Traced<AttemptEnd> {
    event(seq: number, state: TaskState | undefined): void {
      this.open.addEvent(eventName(state), eventAttributes(seq, state));
    }
  }

  const telemetry: Telemetry = {
    call: (call) => new Traced(callSpan(call), callOutcome),
    attempt: (attempt) => new TracedAttempt(attemptSpan(attempt), attemptOutcome),
    step: (step) => new Traced(stepSpan(step), stepOutcome),
    wait: (wait) => new Traced(waitSpan(wait), waitOutcome),
    delivery: (delivery) => new Traced(deliverySpan(delivery), deliveryOutcome),
    request: (request) => new Traced(requestSpan(request), requestOutcome),
  };
  return telemetry;
}

/** The binding is known from the start; the version may depend on the body. */
function callSpan({ agent, dialect, trace }: CallStart): NewSpan {
  return {
    parent: trace,
    name: UNKNOWN_METHOD,
    kind: "server",
    shared: callShared(agent, dialectNames(dialect).binding),
    isStoredFirst: true,
  };
}

const callShared = sharedAttributes((agent, binding) => ({
  [ATTRIBUTE.agentId]: agent,
  [ATTRIBUTE.protocolBinding]: binding,
}));

function callOutcome({ operation, dialect, taskId, error }: CallEnd): SpanOutcome {
  const method = operation === undefined ? undefined : METHODS[operation];
  return {
    name: method,
    shared: callEndShared(dialectNames(dialect).version, method, error),
    attributes: callAttributes(taskId),
    // An error that the caller caused is no failure of the server.
    failed: error === "internal",
  };
}

const callEndShared = sharedAttributes((version, method, error) => ({
  [ATTRIBUTE.method]: method,
  [ATTRIBUTE.protocolVersion]: version,
  [ATTRIBUTE.errorType]: error,
}));

function attemptOutcome({ outcome }: AttemptEnd): SpanOutcome {
  return { shared: outcomeShared(outcome), failed: outcome === "failed" };
}

const outcomeShared = sharedAttributes((outcome) => ({ [ATTRIBUTE.outcome]: outcome }));

function stepOutcome({ error, result }: WorkEnd): SpanOutcome {
  if (error !== undefined || result === undefined) return failure(error);
  return { attributes: callResultAttributes(result), failed: result.failed === true };
}

function waitOutcome({ outcome }: WaitEnd): SpanOutcome {
  return { shared: outcomeShared(outcome) };
}

function deliveryOutcome({ outcome, httpStatus }: DeliveryEnd): SpanOutcome {
  return {
    attributes: { [ATTRIBUTE.outcome]: outcome, [ATTRIBUTE.httpStatus]: httpStatus },
    failed: outcome !== "delivered",
  };
}

function requestSpan({ url, operation, trace }: RequestStart): NewSpan {
  const { hostname, port, protocol } = new URL(url);
  const ordinal = nextRequestOf(trace);
  const spanId = trace === undefined || ordinal === undefined ? undefined : requestSpanId(trace.spanId, ordinal);
  const attributes = {
    [ATTRIBUTE.method]: METHODS[operation],
    [ATTRIBUTE.serverAddress]: hostname,
    [ATTRIBUTE.serverPort]: Number(port) || (protocol === "https:" ? 443 : 80),
  };
  return {
    ...{ parent: trace, name: METHODS[operation], kind: "client", attributes },
    ...(spanId !== undefined && { spanId }),
  };
}

function requestOutcome({ httpStatus, error }: RequestEnd): SpanOutcome {
  const ended = failure(error);
  return {
    attributes: { ...ended.attributes, [ATTRIBUTE.httpStatus]: httpStatus },
    failed: ended.failed === true || (httpStatus ?? 0) >= 400,
  };
}

/** The text of an error may contain anything: only its kind is recorded. */
function failure(error: unknown): SpanOutcome {
  if (error === undefined) return {};
  return { attributes: { [ATTRIBUTE.errorType]: errorType(error) }, failed: true };
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return "_OTHER";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : error.constructor.name;
}
