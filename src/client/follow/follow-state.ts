import type { TaskId } from "../../protocol/ids.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import type { RemoteError } from "../http/errors.ts";
import type { ClientSettings } from "../http/settings.ts";

/**
 * What a follower does next. Each state names one piece of I/O; `transitions` decides from its outcome which state comes next.
 *
 * ```
 * sending ──────► waiting ◄──────► subscribing ──► done | failed
 *    │ └─► checking-reply ──────────────▲ │
 *    └───► submitting ──► waiting ◄──► polling ──► done | failed
 * ```
 */
export type FollowState =
  | Sending
  | Submitting
  | CheckingReply
  | Subscribing
  | Polling
  | Waiting
  | Undelivered
  | Failed
  | Done;

/** Sends the message and reads the stream that answers it. */
export interface Sending {
  readonly name: "sending";
  readonly request: SendRequest;
  /** The question that the message answers is known, so `checking-reply` can determine whether the agent accepted the answer. */
  readonly knowsQuestion: boolean;
  /** One error for each attempt that failed. */
  readonly errors: readonly RemoteError[];
}

/** Sends the message without a stream. The task is polled afterwards. */
export interface Submitting {
  readonly name: "submitting";
  readonly request: SendRequest;
  /** The agent rejected the stream that its card declares. */
  readonly streamsRejected: boolean;
}

/** Reads the task to find out whether the agent accepted a reply although it answered with an error. */
export interface CheckingReply {
  readonly name: "checking-reply";
  readonly taskId: TaskId;
  /** The state to return to if the agent did not accept the reply. */
  readonly sending: Sending;
  readonly error: RemoteError;
}

/** Subscribes to the task and reads the stream. */
export interface Subscribing extends Reconnecting {
  readonly name: "subscribing";
  readonly taskId: TaskId;
  /** The server rejected the last event id: subscribe without it. */
  readonly dropsCursor: boolean;
}

/** What later connections of one stream need to know about the earlier ones. */
export interface Reconnecting {
  /** Connections in a row that brought nothing new. */
  readonly failures: number;
  /** The transient error by which the agent itself ended an earlier connection. Explains a later refusal to resume. */
  readonly reported: RemoteError | undefined;
}

/** Reads the task once. */
export interface Polling {
  readonly name: "polling";
  readonly taskId: TaskId;
  /** Milliseconds until the next poll, if this poll finds no change. */
  readonly delay: number;
  /** See {@link Reconnecting.reported}. */
  readonly reported?: RemoteError | undefined;
}

/** Waits before the next state. */
export interface Waiting {
  readonly name: "waiting";
  readonly pause: Pause;
  readonly next: Sending | Subscribing | Polling;
}

/** Ends following: the message could not be sent, or whether it arrived is unknown. */
export interface Undelivered {
  readonly name: "undelivered";
  readonly request: SendRequest;
  readonly error: RemoteError;
  readonly errors: readonly RemoteError[];
}

/** Ends following with an error. */
export interface Failed {
  readonly name: "failed";
  readonly error: unknown;
}

/** Ends following: the task is finished, waits for the caller, or was answered with a message. */
export interface Done {
  readonly name: "done";
}

/** Why to wait. `pauseLength` turns it into milliseconds. */
export type Pause =
  | { readonly kind: "fixed"; readonly milliseconds: number }
  | { readonly kind: "retry"; readonly error: RemoteError; readonly failures: number }
  | { readonly kind: "reconnect"; readonly ended: ConnectionEnd; readonly failures: number };

/** How one connection ended. `done`: no other connection is needed. */
export type Ending = Done | ConnectionEnd;

/** A connection ended before the task did. */
export interface ConnectionEnd {
  /** `closed`: the server ended the stream. `broken`: the stream could not be opened, or broke. */
  readonly name: "closed" | "broken";
  /** At least one frame arrived. */
  readonly received: boolean;
  /** At least one event was new. */
  readonly progressed: boolean;
  /** Milliseconds that the server asks to wait before reconnecting (SSE `retry`). */
  readonly retry?: number | undefined;
  /** Absent if the server closed the stream properly. */
  readonly error?: RemoteError;
}

/** `isSettled`: the agent answered with a message, or the task needs no more following. */
export interface SubmitOutcome {
  readonly isSettled: boolean;
  readonly taskId: TaskId | undefined;
}

/** `settled`: the agent accepted the reply, and the task needs no more following. */
export type CheckOutcome = "not-accepted" | "accepted" | "settled";

/** `settled`: the task needs no more following. */
export type PollOutcome = "unchanged" | "changed" | "settled" | { readonly error: RemoteError };

/** What the transitions need to know besides the state and the outcome of its I/O. */
export interface FollowFacts {
  /** The task's id, once an event named it. */
  readonly taskId: TaskId | undefined;
  /** The server numbers its events, so a stream can be resumed exactly. */
  readonly hasCursor: boolean;
  /** The agent streams, as far as is known. */
  readonly streams: boolean;
  /** The message may be sent again by the same id. */
  readonly mayResend: boolean;
  readonly settings: Pick<ClientSettings, "retry" | "poll">;
}
