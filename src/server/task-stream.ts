import type { Subscription, ViewEntry } from "../engine/api.ts";
import type { Message } from "../protocol/message.ts";
import type { Operation } from "../protocol/operation.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { isTerminal } from "../protocol/state.ts";

/** True for the operations that answer with a {@link TaskStream}. */
export function opensStream(operation: Operation): boolean {
  return operation === "stream" || operation === "subscribe";
}

export interface StreamBatch {
  /** At least one. */
  readonly entries: readonly ViewEntry[];
  /** Nothing follows: the stream has come to its proper end. */
  readonly last: boolean;
}

/** What a streaming operation answers with: a first frame, then events as the reader asks for them. */
export interface TaskStream {
  readonly kind: "stream";
  readonly opening: StreamStart;
  /** Absent: nothing follows the opening. */
  readonly events?: StreamEvents;
  /** The task's artifacts so far, as stored, where the dialect must know them and the opening leaves them out. */
  readonly artifacts?: string | undefined;
}

export type StreamStart =
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "message"; readonly message: Message };

/** The events after the opening, apart from it: whoever waits for them for days need not keep the task in memory. */
export interface StreamEvents {
  /** `undefined` when the stream was cut short: by `close`, or because the server shuts down. */
  next(): Promise<StreamBatch | undefined>;
  /** Ends the reading and nothing else. Idempotent. */
  close(): void;
}

/** A stream of exactly one message. */
export function messageStream(message: Message): TaskStream {
  return { kind: "stream", opening: { kind: "message", message } };
}

export interface SubscriptionStreamOptions {
  /** End when the task has taken the caller's message and now waits for its next. */
  readonly closeOnInputRequired: boolean;
  /** The opening is all there is. */
  readonly complete: boolean;
}

/** A stream of what a subscription yields. */
export function subscriptionStream(subscription: Subscription, options: SubscriptionStreamOptions): TaskStream {
  const task = subscription.resync ? markResync(subscription.opening) : subscription.opening;
  const opening: StreamStart = { kind: "task", task };
  if (!options.complete) {
    return { kind: "stream", opening, events: new SubscribedEvents(subscription, options.closeOnInputRequired) };
  }
  subscription.close();
  return { kind: "stream", opening };
}

class SubscribedEvents implements StreamEvents {
  readonly #subscription: Subscription;
  readonly #closeOnInputRequired: boolean;

  constructor(subscription: Subscription, closeOnInputRequired: boolean) {
    this.#subscription = subscription;
    this.#closeOnInputRequired = closeOnInputRequired;
  }

  async next(): Promise<StreamBatch | undefined> {
    const batch = await this.#subscription.next();
    if (batch === undefined) return undefined;
    const state = batch.entries.at(-1)?.state;
    const asked = this.#closeOnInputRequired && state === "input-required" && batch.answered;
    const last = asked || (state !== undefined && isTerminal(state));
    return { entries: batch.entries, last };
  }

  close(): void {
    this.#subscription.close();
  }
}

/** The member of a task's metadata that says: events before this are no longer kept, take this task as the whole of it. */
const RESYNC_KEY = "palaver.resync";

function markResync(task: StoredTask): StoredTask {
  const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
  return { ...task, metadata: `{"${RESYNC_KEY}":true${rest === "}" ? "" : ","}${rest}` };
}
