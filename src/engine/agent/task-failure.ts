import type { JsonObject } from "../../protocol/json.ts";

/**
 * Thrown by an author to fail a task with words the caller may read. Any other error fails it too, but the caller learns
 * only that the agent failed; the error itself goes to the log.
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
