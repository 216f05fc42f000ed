import type { JsonObject } from "../../protocol/json.ts";
import type { CallResult } from "../agent/call-types.ts";
import { TaskFailure } from "../agent/task-failure.ts";

/** Why a call was refused before anything was sent. */
export type CallRefusal =
  | "call-depth"
  | "call-cycle"
  | "call-fan-out"
  | "call-limit"
  | "call-rate"
  | "call-agents"
  | "call-cool-down"
  | "call-budget"
  | "call-deadline"
  | "call-forbidden"
  | "call-unknown-agent"
  | "call-blocked-url";

/** Why a call failed after it was sent, or could not be sent. */
export type CallProblem =
  | "call-failed"
  | "call-rejected"
  | "call-canceled"
  | "call-timeout"
  | "call-needs-input"
  | "call-invalid-result"
  | "call-unavailable"
  | "outcome-unknown";

/** Why a `task.call` failed: the call was refused, or it was made and had no usable result. */
export type CallErrorCode = CallRefusal | CallProblem;

export interface CallErrorOptions {
  readonly code: CallErrorCode;
  /** The called task, if it exists and has ended. */
  readonly result?: CallResult | undefined;
  readonly data?: JsonObject;
  readonly cause?: unknown;
  /** The same may succeed soon. Default false. */
  readonly transient?: boolean;
}

/**
 * Why `task.call` has no result. `code` names the reason, and the message says it in words that may be shown to the caller or to a model. If the
 * agent's code does not catch it, the task fails with this message.
 */
export class CallError extends TaskFailure {
  override readonly code: CallErrorCode;
  /** The called task as it ended; `undefined` if it has not ended or was never created. */
  readonly result: CallResult | undefined;
  /** The agent could not be reached or was busy: the same may succeed soon. */
  readonly transient: boolean;

  constructor(message: string, { code, result, data, cause, transient = false }: CallErrorOptions) {
    super(message, { code, data: { ...data, code }, ...(cause !== undefined && { cause }) });
    this.code = code;
    this.result = result;
    this.transient = transient;
  }
}
