import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** Why the task of an ACP agent failed: `code` in the data of its last status message. Failures of its program have the codes of processes. */
export type AcpFailureCode =
  | "acp-not-started"
  | "acp-version-unsupported"
  | "acp-auth-required"
  | "acp-prompt-failed"
  | "acp-stopped"
  | "acp-ended";

interface FailureDetails {
  readonly cause?: unknown;
  readonly data?: JsonObject;
}

/** A failure with a message that the caller reads: it says what happened, and nothing about this machine. */
export function acpFailure(
  code: AcpFailureCode,
  message: string,
  { cause, data = {} }: FailureDetails = {},
): TaskFailure {
  return new TaskFailure(message, { code, data: { code, ...data }, ...(cause !== undefined && { cause }) });
}
