// What errors of agents mean while a task is followed. Agents use the same code for different things, so the rules are collected here.

import { RemoteError, type RemoteErrorCode } from "../http/errors.ts";

/**
 * Whether the agent rejects a message because it does not stream. It did nothing with the message then, so the message may be sent
 * without a stream. `unsupported-operation` may also mean something else, such as a message to a finished task: its text decides.
 * A server without an address for streams may answer `task-not-found`, which means the same unless the message names a task.
 */
export function rejectsStreams({ code, message }: RemoteError, isReply: boolean): boolean {
  if (code === "unsupported-operation") return /stream/i.test(message);
  if (code === "task-not-found") return !isReply;
  return STREAM_REJECTIONS.has(code);
}

const STREAM_REJECTIONS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "unsupported-operation",
  "method-not-found",
  "method-not-allowed",
]);

/** Whether the agent will not resume a stream: the task is finished, or the agent never resumes streams. */
export function endsFollowing({ code }: RemoteError): boolean {
  return RESUME_REJECTIONS.has(code);
}

const RESUME_REJECTIONS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  ...STREAM_REJECTIONS,
  "task-not-found",
  "invalid-params",
  "invalid-request",
  "internal",
]);

/** Whether an error in the middle of a stream is about the server rather than the task. */
export function isTransient({ code }: RemoteError): boolean {
  return TRANSIENT.has(code);
}

const TRANSIENT: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "unavailable",
  "rate-limited",
  "resource-exhausted",
  "internal",
]);

/**
 * The error of a stream that the agent refuses to resume. An error that the agent reported before is the reason, and the rejection only
 * its consequence.
 */
export function resumeRejected(reported: RemoteError | undefined, rejection: RemoteError): RemoteError {
  if (reported === undefined) return rejection;
  const { code, message, remote, violations, taskId } = reported;
  return new RemoteError(code, `${message} (Its stream could not be resumed: ${rejection.message})`, {
    remote,
    violations,
    ...(taskId !== undefined && { taskId }),
    cause: rejection,
  });
}

/** `stream-lost`: no more connections are tried. `error`: why the last connection broke; `undefined`: the agent ended it. */
export function streamLost(error: RemoteError | undefined, { taskId, reconnects }: LostStream): RemoteError {
  const why = error === undefined ? "" : `: ${error.message}`;
  return new RemoteError("stream-lost", `${lostText(error, { taskId, reconnects })}${why}`, {
    ...(taskId !== undefined && { taskId }),
    ...(error !== undefined && { cause: error, remote: error.remote }),
  });
}

interface LostStream {
  /** `undefined`: the stream did not name its task. */
  readonly taskId: string | undefined;
  /** The setting `retry.reconnects`. */
  readonly reconnects: number;
}

function lostText(error: RemoteError | undefined, { taskId, reconnects }: LostStream): string {
  const ended = error === undefined ? "ended" : "broke";
  if (taskId === undefined) return `The stream ${ended} before it named a task, so it cannot be resumed`;
  if (reconnects === 0) return `The task's stream ${ended} and was not resumed, because \`retry.reconnects\` is 0`;
  if (error !== undefined) return "The task's stream broke and could not be resumed";
  return "The task's stream could not be resumed: the agent ended it several times without sending anything new";
}
