import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Ending } from "./children/child.ts";

/** Why the task of a program failed: `code` in the data of its last status message. */
export type ProcessFailureCode =
  | "process-not-started"
  | "process-exited"
  | "process-killed"
  | "process-failed"
  | "process-output-too-large"
  | "process-line-too-long"
  | "process-line-invalid"
  | "process-schema-invalid"
  | "process-file-refused"
  | "process-file-too-large";

/** A failure with a message that the caller reads: it says what happened, and nothing about this machine. */
export function processFailure(code: ProcessFailureCode, message: string, more: FailureDetails = {}): TaskFailure {
  const { cause, data = {} } = more;
  return new TaskFailure(message, { code, data: { code, ...data }, ...(cause !== undefined && { cause }) });
}

interface FailureDetails {
  readonly cause?: unknown;
  readonly data?: JsonObject;
}

/** The failure of a program that did not end with exit code 0; `undefined` if it did. */
export function failureOf({ code, signal }: Ending): TaskFailure | undefined {
  if (code === 0) return undefined;
  if (signal !== null)
    return processFailure("process-killed", `The program was ended by the signal ${signal}.`, { data: { signal } });
  return processFailure("process-exited", `The program ended with exit code ${code}.`, { data: { exitCode: code } });
}
