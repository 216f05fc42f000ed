import type { ErrorCode } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";
import type { TraceContext } from "../protocol/trace-context.ts";

/**
 * Observes what a server or a client does, as it happens: for traces, metrics and request logs. Every member is optional. All are called
 * synchronously on the path of the work, so they must be fast and must not throw. They cannot change the work.
 *
 * A member may return a {@link Span}: its `end` is called when the work ends, and its `trace` is the parent of the work inside.
 */
export interface Telemetry {
  /** A request for an operation has arrived. It ends when the answer is written; a stream, when it ends. */
  call?(start: CallStart): Span<CallEnd> | undefined;
  /** An execution of an agent's function begins. It ends when the function returns, is parked, or loses its task. */
  attempt?(start: AttemptStart): AttemptSpan | undefined;
  /** A step runs. Not called for a step whose result is stored. */
  step?(start: StepStart): Span<WorkEnd> | undefined;
  /** The agent asks the caller a question, or waits. It ends with the answer, or with the attempt if no answer has arrived by then. */
  wait?(start: WaitStart): Span<WaitEnd> | undefined;
  /** A notification is sent to a webhook. */
  delivery?(start: DeliveryStart): Span<DeliveryEnd> | undefined;
  /** The client sends a request to another agent. */
  request?(start: RequestStart): Span<RequestEnd> | undefined;
  /** A commit has ended. */
  commit?(report: CommitReport): void;
}

/** Work that has begun. */
export interface Span<End> {
  /** The context for work inside the span, such as requests to other agents. */
  readonly trace: TraceContext;
  /** Called once. */
  end(end: End): void;
}

/** A request for an operation, when it arrives. */
export interface CallStart {
  /** The id of the agent; empty for a request that names no agent. */
  readonly agent: string;
  /** Version and binding that the request asks for, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  /** The context that the caller sent. */
  readonly trace: TraceContext | undefined;
}

/** How a call ended. */
export interface CallEnd {
  /** Differs from that of the start if the message of a gRPC call names another agent than its headers. */
  readonly agent: string;
  /** Absent if the request could not be parsed that far. */
  readonly operation: Operation | undefined;
  /** As in the start, but after the version was chosen. */
  readonly dialect: string;
  /** The caller; `anonymous` if the call was refused before authentication. */
  readonly principal: Principal;
  /** The task that the call was about, as callers know it. */
  readonly taskId: string | undefined;
  /** Absent if the call succeeded. */
  readonly error: ErrorCode | undefined;
  /** Milliseconds from the first byte of the request to the end of the response. */
  readonly durationMs: number;
}

/** Identifies a task, as callers know it. */
export interface ObservedTask {
  readonly taskId: string;
  readonly contextId: string;
  /** The id of the agent. */
  readonly agent: string;
  /** The context of the call that created the task. */
  readonly trace: TraceContext | undefined;
}

/** An execution of an agent's function, when it begins. */
export interface AttemptStart extends ObservedTask {
  /** Turn and attempt, from 1 on. */
  readonly turn: number;
  readonly attempt: number;
  /** The id of the skill that handles the turn. `undefined`: the agent's own `run`. */
  readonly skill: string | undefined;
}

/** The span of an attempt; it is also notified of each event that the attempt commits. */
export interface AttemptSpan extends Span<AttemptEnd> {
  /** An event of the attempt was committed. `state` is absent for artifact chunks. */
  event(seq: number, state: TaskState | undefined): void;
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** A terminal state; or `parked`, `released` (the server shuts down), `lost` (another process has the task). */
  readonly outcome: string;
}

/** A step, when its work begins. */
export interface StepStart extends AttemptStart {
  /** The name that the author gave, and the key of the stored result. */
  readonly name: string;
  /** The key under which the result is stored; unique in the task. */
  readonly key: string;
  /** The context of the attempt. */
  readonly parent: TraceContext | undefined;
  /** The model or the tool that the step calls, if the author names it. */
  readonly call?: StepCall | undefined;
}

/** A question or a sleep of an agent, when it begins. */
export interface WaitStart extends AttemptStart {
  /** `question`: `ask` and `requireAuth`. `wait`: `sleep`. */
  readonly kind: "question" | "wait";
  /** The key of the stored answer. It may contain the text of the question. */
  readonly key: string;
  /** The context of the attempt. */
  readonly parent: TraceContext | undefined;
}

/** How a question or a sleep ended. */
export interface WaitEnd {
  /** Such as `answered`, `timed-out` or `completed`; or the outcome of the attempt, if that ended first. */
  readonly outcome: string;
}

/** How a step ended. */
export interface WorkEnd {
  /** What the work threw. `undefined`: it returned a result. */
  readonly error: unknown;
  /** What is known of the model call or the tool call of a step. */
  readonly result?: StepCallResult | undefined;
}

/** An attempt to send a notification, when it begins. */
export interface DeliveryStart {
  readonly taskId: string;
  readonly agent: string;
  /** The id of the webhook. */
  readonly webhook: string;
  /** The last event in the notification. */
  readonly seq: number;
  /** The attempt to deliver it, from 1 on. */
  readonly attempt: number;
  /** The context in which the event was written. */
  readonly trace: TraceContext | undefined;
}

/** How an attempt to send a notification ended. */
export interface DeliveryEnd {
  /** `delivered`, `failed`, `refused`, `gone` or `aborted`. */
  readonly outcome: string;
  /** The status of the receiver's answer. `undefined`: there was none. */
  readonly httpStatus: number | undefined;
}

/** A request of the client, before it is sent. */
export interface RequestStart {
  /** Without user, password, query and fragment. */
  readonly url: string;
  readonly operation: Operation;
  /** The place in a trace that the caller chose. */
  readonly trace: TraceContext | undefined;
}

/** How a request of the client ended. */
export interface RequestEnd {
  /** The status of the response. `undefined`: there was none. */
  readonly httpStatus: number | undefined;
  /** Why the request failed. `undefined`: it succeeded. */
  readonly error: unknown;
}

/** A transaction of the store, after it has ended. */
export interface CommitReport {
  /** Operations in the transaction. */
  readonly operations: number;
  /** Milliseconds from the call of the store to its answer. */
  readonly durationMs: number;
  /** Whether it was applied. */
  readonly ok: boolean;
}

/** A model or a tool that a step calls. */
export type StepCall = ModelStepCall | ToolStepCall;

/** A language model that a step calls. */
export interface ModelStepCall {
  readonly kind: "model";
  /** The id of the model, such as `gpt-5`. */
  readonly name: string;
  /** Who runs the model, such as `openai`. */
  readonly provider?: string;
}

/** A tool that a step calls. */
export interface ToolStepCall {
  readonly kind: "tool";
  /** The name of the tool. */
  readonly name: string;
  /** The id that the model gave the call. */
  readonly id?: string;
}

/** What is known of such a call after its end. It has no contents: no prompts, inputs or outputs. */
export interface StepCallResult {
  /** The model that answered. */
  readonly model?: string;
  /** Tokens of the prompt. */
  readonly inputTokens?: number;
  /** Of the input tokens: those that the provider had cached. */
  readonly cachedInputTokens?: number;
  /** Tokens of the answer. */
  readonly outputTokens?: number;
  /** Of the output tokens: those of the model's reasoning. */
  readonly reasoningTokens?: number;
  /** Why the model stopped, such as `stop` or `tool-calls`. */
  readonly finishReason?: string;
  /** The step has a result, but the call failed. */
  readonly failed?: boolean;
}
