/** Why a run was aborted. */
export type AbortCause = "canceled" | "timeout" | "shutdown" | "lease-lost" | "parked" | "store-unavailable";

/** The reason of `task.signal`, and the error of pending calls of the task context after an abort. Do not catch it without rethrowing. */
export class TaskAborted extends Error {
  override readonly name = "TaskAborted";
  readonly reason: AbortCause;

  constructor(reason: AbortCause, message: string) {
    super(message);
    this.reason = reason;
  }
}
