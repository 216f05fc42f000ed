import type { SendRequest } from "../../protocol/operation.ts";
import type { RemoteError, RemoteErrorCode } from "../http/errors.ts";

/**
 * Whether an agent says that it does not stream: then it did nothing else either, and may be sent the message. What it does
 * not support may be something else, such as a message to a finished task, so its words count; and who does not know the address
 * of streams may well say that it does not know the task.
 */
export function isRefusalOfStreams({ code, message }: RemoteError, request: SendRequest): boolean {
  if (code === "unsupported-operation") return /stream/i.test(message);
  if (code === "task-not-found") return request.message.taskId === undefined;
  return REFUSALS_OF_STREAMS.has(code);
}

/** By these an agent says that it does not stream. */
const REFUSALS_OF_STREAMS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "unsupported-operation",
  "method-not-found",
  "method-not-allowed",
]);

/** Whether an agent says that it will not go on with a stream: the task is over, or it never does that. */
export function endsFollowing({ code }: RemoteError): boolean {
  return REFUSALS.has(code);
}

const REFUSALS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  ...REFUSALS_OF_STREAMS,
  "task-not-found",
  "invalid-params",
  "invalid-request",
  "internal",
]);

/** Whether an error that comes in the middle of a stream is no verdict on the task. */
export function isPassing({ code }: RemoteError): boolean {
  return TRANSIENT.has(code);
}

const TRANSIENT: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "unavailable",
  "rate-limited",
  "resource-exhausted",
  "internal",
]);
