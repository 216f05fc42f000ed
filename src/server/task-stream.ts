import type { Batch, BatchReader, Subscription, ViewEntry } from "../engine/api.ts";
import type { Message } from "../protocol/message.ts";
import type { Operation } from "../protocol/operation.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { isTerminal } from "../protocol/state.ts";

/** True for the operations that answer with a {@link TaskStream}. */
export function opensStream(operation: Operation): boolean {
  return operation === "stream" || operation === "subscribe";
}

export interface StreamBatch {
  /** At least one entry. */
  readonly entries: readonly ViewEntry[];
  /** The stream ends regularly after this batch. */
  readonly last: boolean;
}

/** The result of a streaming operation: an opening, then events on demand. */
export interface TaskStream {
  readonly kind: "stream";
  readonly opening: StreamStart;
  /** Absent: the stream ends after the opening. */
  readonly events?: StreamEvents;
  /** The task's artifacts so far, as stored, if the dialect numbers artifacts and the opening omits them. */
  readonly artifacts?: string | undefined;
}

export type StreamStart =
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "message"; readonly message: Message };

/** The events after the opening. A separate object, so that a stream that waits for days does not keep the task in memory. */
export interface StreamEvents {
  /** Calls back once with the next batch, perhaps before it returns. Not called again before that. */
  take(reader: StreamReader): void;
  /** Stops reading; does not affect the task. Idempotent. */
  close(): void;
}

/** Receives the batches of a stream. */
export interface StreamReader {
  /** `undefined`: the stream ended early, by `close` or because the server shuts down. */
  arrived(batch: StreamBatch | undefined): void;
  failed(error: unknown): void;
}

/** A stream of exactly one message. */
export function messageStream(message: Message): TaskStream {
  return { kind: "stream", opening: { kind: "message", message } };
}

export interface SubscriptionStreamOptions {
  /** End the stream when the task has read the caller's message and waits for the next one. */
  readonly closeOnInputRequired: boolean;
  /** End the stream after the opening. */
  readonly complete: boolean;
}

/** The stream of a subscription. */
export function subscriptionStream(subscription: Subscription, options: SubscriptionStreamOptions): TaskStream {
  const task = subscription.resync ? markResync(subscription.opening) : subscription.opening;
  const opening: StreamStart = { kind: "task", task };
  if (!options.complete) {
    return { kind: "stream", opening, events: new SubscribedEvents(subscription, options.closeOnInputRequired) };
  }
  subscription.close();
  return { kind: "stream", opening };
}

class SubscribedEvents implements StreamEvents, BatchReader {
  readonly #subscription: Subscription;
  readonly #closeOnInputRequired: boolean;
  #reader: StreamReader | undefined;

  constructor(subscription: Subscription, closeOnInputRequired: boolean) {
    this.#subscription = subscription;
    this.#closeOnInputRequired = closeOnInputRequired;
  }

  take(reader: StreamReader): void {
    this.#reader = reader;
    this.#subscription.take(this);
  }

  arrived(batch: Batch | undefined): void {
    this.#reader?.arrived(batch === undefined ? undefined : this.#streamBatch(batch));
  }

  failed(error: unknown): void {
    this.#reader?.failed(error);
  }

  #streamBatch(batch: Batch): StreamBatch {
    const state = batch.entries.at(-1)?.state;
    const asked = this.#closeOnInputRequired && state === "input-required" && batch.answered;
    const last = asked || (state !== undefined && isTerminal(state));
    return { entries: batch.entries, last };
  }

  close(): void {
    this.#subscription.close();
  }
}

/** Marks in the task's metadata that earlier events are lost and that this task replaces everything received so far. */
const RESYNC_KEY = "palaver.resync";

function markResync(task: StoredTask): StoredTask {
  const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
  return { ...task, metadata: `{"${RESYNC_KEY}":true${rest === "}" ? "" : ","}${rest}` };
}
