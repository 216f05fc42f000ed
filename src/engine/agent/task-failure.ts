import type { JsonObject } from "../../protocol/json.ts";

/**
 * Throw it in `run` to fail the task with a message that the caller reads. Any other error also fails the task, but the caller gets a general
 * message; the error itself is logged.
 */
export class TaskFailure extends Error {
  override readonly name = "TaskFailure";
  readonly code: string | undefined;
  readonly data: JsonObject | undefined;

  constructor(
    message: string,
    options: { readonly code?: string; readonly data?: JsonObject; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.data = options.data;
  }
}
