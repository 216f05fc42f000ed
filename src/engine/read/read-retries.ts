import type { Clock } from "../../internal/clock.ts";
import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import {
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type Outcome,
  type Position,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskRecord,
  type WebhookRecord,
} from "../../store/contract.ts";

export interface ReadRetriesOptions {
  readonly clock: Clock;
  /** Milliseconds for which a read is retried while the store is busy. */
  readonly retryFor: number;
  /** A read failed until its retries ended. */
  readonly onRefused: (error: StoreError) => void;
}

/** Pauses between retries, in milliseconds. Each pause is twice as long as the last. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 500;

/**
 * A store that retries reads while the store behind it is busy, so that a task does not fail because of one read. After `retryFor` a read rejects
 * with an `A2AError` (`unavailable`). Commits are not retried here, the committer does that; nor are `due` and `nextWake`, which are polled
 * every second.
 */
export class ReadRetries implements Store {
  readonly #store: Store;
  readonly #options: ReadRetriesOptions;

  constructor(store: Store, options: ReadRetriesOptions) {
    this.#store = store;
    this.#options = options;
  }

  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#read(() => this.#store.get(id, options));
  }
  list(query: ListQuery): Promise<ListPage> {
    return this.#read(() => this.#store.list(query));
  }
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.#read(() => this.#store.log(id, after, maxBytes));
  }
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#read(() => this.#store.history(id, from, maxBytes));
  }
  inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#read(() => this.#store.inbox(id));
  }
  steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#read(() => this.#store.steps(id));
  }
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.#read(() => this.#store.findByMessage(scope, messageId));
  }
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#store.webhooks(task));
  }
  unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#store.unheldWebhooks(limit));
  }
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#store.failedWebhooks(query));
  }
  positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#read(() => this.#store.positions(ids));
  }
  due(limit: number): Promise<readonly TaskId[]> {
    return this.#store.due(limit);
  }
  nextWake(): Promise<number | undefined> {
    return this.#store.nextWake();
  }
  commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    return this.#store.commit(operations);
  }
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return this.#store.heartbeat(node, leaseMs);
  }
  leave(node: string): Promise<void> {
    return this.#store.leave(node);
  }
  sweep(): Promise<number> {
    return this.#store.sweep();
  }
  health(): Promise<void> {
    return this.#store.health();
  }
  close(): Promise<void> {
    return this.#store.close();
  }

  #read<T>(read: () => Promise<T>): Promise<T> {
    return read().catch((error: unknown) => this.#retry(error, read));
  }

  async #retry<T>(failure: unknown, read: () => Promise<T>): Promise<T> {
    const { clock, retryFor, onRefused } = this.#options;
    let error = failure;
    let waited = 0;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      if (!(error instanceof StoreError) || error.code !== "busy") throw error;
      waited += pause;
      if (waited > retryFor) {
        onRefused(error);
        throw new A2AError("unavailable", "The store is unavailable; try again in 5 s.", {
          cause: error,
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => clock.setTimer(clock.now() + pause, resolve));
      try {
        return await read();
      } catch (next) {
        error = next;
      }
    }
  }
}

/** The error of the store, if `thrown` is the error of a read whose retries ended. */
export function readFailure(thrown: unknown): StoreError | undefined {
  return thrown instanceof A2AError && thrown.cause instanceof StoreError ? thrown.cause : undefined;
}
