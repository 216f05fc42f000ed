import type { Subscription, ViewEntry } from "../engine/api.ts";
import type { Message } from "../protocol/message.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { isTerminal } from "../protocol/state.ts";

export interface StreamBatch {
  /** At least one. */
  readonly entries: readonly ViewEntry[];
  /** Nothing follows: the stream has come to its proper end. */
  readonly last: boolean;
}

/** What a streaming operation answers with: a first frame, then batches of events as the reader asks for them. */
export interface TaskStream {
  readonly kind: "stream";
  readonly opening:
    | { readonly kind: "task"; readonly task: StoredTask }
    | { readonly kind: "message"; readonly message: Message };
  /** Nothing follows the opening. */
  readonly complete: boolean;
  /** `undefined` when the stream was cut short: by `close`, or because the server shuts down. */
  next(): Promise<StreamBatch | undefined>;
  /** Ends the reading and nothing else. Idempotent. */
  close(): void;
}

/** A stream of exactly one message. */
export function messageStream(message: Message): TaskStream {
  return { kind: "stream", opening: { kind: "message", message }, complete: true, next: nothing, close: () => {} };
}

export interface SubscriptionStreamOptions {
  /** End when the task has taken the caller's message and now waits for its next. */
  readonly closeOnInputRequired: boolean;
  /** The opening is all there is. */
  readonly complete: boolean;
}

/** A stream of what a subscription yields. */
export function subscriptionStream(subscription: Subscription, options: SubscriptionStreamOptions): TaskStream {
  if (options.complete) subscription.close();
  const { closeOnInputRequired, complete } = options;
  const task = subscription.resync ? markResync(subscription.opening) : subscription.opening;
  return {
    kind: "stream",
    opening: { kind: "task", task },
    complete,
    next: complete ? nothing : () => nextBatch(subscription, closeOnInputRequired),
    close: () => subscription.close(),
  };
}

async function nextBatch(subscription: Subscription, closeOnInputRequired: boolean): Promise<StreamBatch | undefined> {
  const batch = await subscription.next();
  if (batch === undefined) return undefined;
  const state = batch.entries.at(-1)?.state;
  const last =
    state !== undefined &&
    (isTerminal(state) || (closeOnInputRequired && state === "input-required" && batch.answered));
  if (last) subscription.close();
  return { entries: batch.entries, last };
}

function nothing(): Promise<undefined> {
  return Promise.resolve(undefined);
}

/** The member of a task's metadata that says: events before this are no longer kept, take this task as the whole of it. */
export const RESYNC_KEY = "palaver.resync";

function markResync(task: StoredTask): StoredTask {
  const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
  return { ...task, metadata: `{"${RESYNC_KEY}":true${rest === "}" ? "" : ","}${rest}` };
}
