/** Why `task.signal` aborted. */
export type AbortCause = "canceled" | "timeout" | "shutdown" | "lease-lost" | "parked" | "store-unavailable";

export class TaskAborted extends Error {
  override readonly name = "TaskAborted";
  readonly reason: AbortCause;

  constructor(reason: AbortCause, message: string) {
    super(message);
    this.reason = reason;
  }
}
