import type { Ancestry } from "../../protocol/calls/ancestry.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Principal, Scope } from "../../protocol/principal.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { CallTarget } from "../agent/call-types.ts";
import type { CalleeAddress, OpenChild } from "../record/runner-record.ts";

export type { CalleeAddress, OpenChild } from "../record/runner-record.ts";

/** For whom a call is made. */
export interface CallOrigin {
  /** The scope of the calling task. */
  readonly scope: Scope;
  readonly caller: Principal;
  /** Of the calling task; hosted tasks inherit it. */
  readonly dialect: string;
  readonly trace: TraceContext | undefined;
  /** The limit of the calling task; milliseconds since 1970. */
  readonly deadline: number | undefined;
}

/** A message to a called agent. */
export interface CalleeMessage {
  /** Complete: its id is stored before it is sent. With a `taskId` it answers a question. */
  readonly message: Message;
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  readonly ancestry: Ancestry;
  /** The called task continues if the calling one is canceled. */
  readonly detached: boolean;
}

/** `accepted` comes first, unless the agent answers without a task. Then the events of the task, or the message. */
export type CalleeEvent =
  | { readonly kind: "accepted"; readonly taskId: string; readonly contextId: string }
  | { readonly kind: "message"; readonly message: Message }
  | TaskEvent;

/** An agent that can be called. Methods reject with a `CallError`, or with an error that `failure` turns into one. */
export interface Callee {
  readonly address: CalleeAddress;
  /** For people and models: `The agent "Billing"`. */
  readonly name: string;
  /** Its entry in call paths, if it is known before the call. */
  readonly entry: string | undefined;
  /** Milliseconds for which the agent counts a repeated message id once. 0: it does not, so no message is sent twice. */
  readonly resendWindow: number;
  /** The context of a new conversation with the agent; `undefined`: the agent chooses it. */
  newContextId(): string | undefined;
  /** Sends a message. The events end when the task has ended or asks something new. */
  send(message: CalleeMessage, signal: AbortSignal): AsyncIterable<CalleeEvent>;
  /** The events of a task whose message was sent before. `answered`: the question that was answered already. */
  follow(taskId: string, answered: TaskStatus | undefined, signal: AbortSignal): AsyncIterable<CalleeEvent>;
  /** The task with its artifacts. */
  result(taskId: string, signal: AbortSignal): Promise<Task>;
  /** Finds the task that a message created, where it is unknown whether it arrived. `undefined`: none is found, or the agent cannot tell. */
  find(
    message: Pick<Message, "messageId" | "contextId">,
    signal: AbortSignal,
  ): Promise<{ readonly taskId: string; readonly contextId: string } | undefined>;
  /** Resolves when the task no longer waits with this status. */
  changed(taskId: string, status: TaskStatus, signal: AbortSignal): Promise<void>;
  /** Resolves when the task is canceled, has ended or does not exist. */
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
}

/** Finds agents to call. */
export interface Callees {
  /** Rejects with a `CallError` if the agent does not exist, or must not be called by this caller. */
  find(target: CallTarget, origin: CallOrigin): Promise<Callee>;
  /** Signs the ancestry of a message with this server's key. */
  sign(ancestry: Ancestry, messageId: string): Promise<string>;
  /** What names a target in stored records, without any request. Throws a `TypeError` if it is no target. */
  label(target: CallTarget): string;
  /**
   * Cancels a called task. Resolves when it has been canceled, or when a stored task of this server does it later because the agent cannot be reached now.
   * Resolves with the task if it has ended.
   */
  abandon(child: OpenChild, origin: CallOrigin): Promise<Task | undefined>;
}
