import type { Clock } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import {
  type InboxPost,
  type LeaseClaim,
  type Outcome,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskWrite,
  type WebhookOperation,
} from "../../store/contract.ts";
import type { StoreAvailability } from "./store-availability.ts";

/** Something that collects writes for the next commit: a task's writer. */
export interface CommitSource {
  /** The source is in the commit queue. Only the committer sets this. */
  marked: boolean;
  /** The store is committing the source's last write. Until that is done, the source is not collected again. */
  readonly isInFlight: boolean;
  /** Returns everything since the last call; `undefined`: nothing. Called once per commit. */
  collect(): TaskWrite | undefined;
  committed(write: TaskWrite, outcome: Outcome): void;
  /** The store did not commit the write within `retryFor`. Nothing of it is stored. */
  failed(write: TaskWrite, error: StoreError): void;
}

/** An operation that is committed with the writes of tasks but belongs to no writer. */
export type LooseOperation = InboxPost | LeaseClaim | WebhookOperation;

interface Submitted {
  readonly operation: LooseOperation;
  readonly result: Deferred<Outcome>;
  readonly onOutcome: ((outcome: Outcome) => void) | undefined;
}

/** The operations of one transaction. `owners` has the owner of each operation at the same index. */
interface Group {
  readonly operations: StoreOperation[];
  readonly owners: Array<CommitSource | Submitted>;
}

export interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Milliseconds for which a commit is retried while the store is busy or full. */
  readonly retryFor: number;
  /** Counts refused operations. */
  readonly availability?: Pick<StoreAvailability, "refused" | "works">;
  /** A commit failed, and it is not known what the store has written. No caller may be answered any more. */
  readonly onFatal: (error: unknown) => void;
}

/** A second commit starts beside the first one only if this many tasks wait: fewer are not worth a flush of the disk. */
const MIN_SECOND_COMMIT = 8;

/**
 * Group commit: everything that all tasks write in one turn of the event loop, or while a commit runs, goes into one transaction. At most two
 * commits run at a time, so that the store finds the second one waiting when the first is done. A task is never in both, so its writes are
 * committed in order.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Array<CommitSource | Submitted> = [];
  #running = 0;
  #scheduled = false;
  #dead = false;
  #idle: Deferred<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Puts a source into the commit queue. */
  mark(source: CommitSource): void {
    if (source.marked) return;
    source.marked = true;
    this.#queue.push(source);
    this.#schedule();
  }

  /** Commits an operation with the next group. `onOutcome` is called before the sources of the same group learn their outcomes. */
  submit(operation: LooseOperation, onOutcome?: (outcome: Outcome) => void): Promise<Outcome> {
    const result = createDeferred<Outcome>();
    this.#queue.push({ operation, result, onOutcome });
    this.#schedule();
    return result.promise;
  }

  /** Resolves when the commit queue is empty and no commit runs. */
  idle(): Promise<void> {
    if (this.#dead || (this.#running === 0 && this.#queue.length === 0)) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#dead || !this.#mayStart()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  /** A commit may start if none runs; a second one only if enough tasks wait. */
  #mayStart(): boolean {
    return this.#running === 0 || (this.#running === 1 && this.#queue.length >= MIN_SECOND_COMMIT);
  }

  #start(): void {
    if (this.#dead || !this.#mayStart()) return;
    const group = this.#collectGroup();
    if (group !== undefined) void this.#run(group);
  }

  async #run(group: Group): Promise<void> {
    this.#running++;
    let hasYielded = false;
    const yielded = setImmediate(() => {
      hasYielded = true;
    });
    try {
      settle(group, await this.#commit(group.operations));
      this.#options.availability?.works();
    } catch (error) {
      if (!isRetryable(error)) return this.#die(error);
      this.#options.availability?.refused(error, group.operations.length);
      refuse(group, error);
    }
    clearImmediate(yielded);
    this.#running--;
    // Start the next commit now, before the tasks that were just notified run, so that the store need not wait for them. But if the store
    // answered within one turn of the event loop, let the loop turn first: otherwise a busy run would starve sockets and timers.
    if (hasYielded) this.#start();
    else this.#schedule();
    if (this.#running > 0 || this.#queue.length > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Takes everything out of the queue, except sources whose last write is being committed. */
  #collectGroup(): Group | undefined {
    const queue = this.#queue;
    this.#queue = [];
    const group: Group = { operations: [], owners: [] };
    for (const item of queue) {
      if (!("operation" in item) && item.isInFlight) {
        this.#queue.push(item);
        continue;
      }
      const operation = "operation" in item ? item.operation : collect(item);
      if (operation === undefined) continue;
      group.operations.push(operation);
      group.owners.push(item);
    }
    return group.operations.length === 0 ? undefined : group;
  }

  /** Commits, and retries while the store reports that nothing was written. */
  async #commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const { store, clock, retryFor } = this.#options;
    const retryUntil = clock.now() + retryFor;
    for (let pause = 5; ; pause = Math.min(pause * 2, 500)) {
      try {
        return await store.commit(operations);
      } catch (error) {
        if (!isRetryable(error) || clock.now() + pause > retryUntil) throw error;
        await new Promise<void>((resolve) => clock.setTimer(clock.now() + pause, resolve));
      }
    }
  }

  #die(error: unknown): void {
    this.#dead = true;
    this.#idle?.resolve();
    this.#idle = undefined;
    this.#options.onFatal(error);
  }
}

function collect(source: CommitSource): TaskWrite | undefined {
  source.marked = false;
  return source.collect();
}

/** Nothing was written, and a retry may succeed. */
function isRetryable(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === "busy" || error.code === "full");
}

function settle({ owners, operations }: Group, outcomes: readonly Outcome[]): void {
  if (outcomes.length !== operations.length)
    throw new StoreError("unknown", "The store returned fewer or more outcomes than operations.");
  for (const [index, owner] of owners.entries()) {
    const outcome = outcomes[index];
    if (!("operation" in owner) || outcome === undefined) continue;
    owner.onOutcome?.(outcome);
    owner.result.resolve(outcome);
  }
  for (const [index, owner] of owners.entries()) {
    const outcome = outcomes[index];
    const operation = operations[index];
    if (!("operation" in owner) && operation?.kind === "write" && outcome !== undefined)
      owner.committed(operation, outcome);
  }
}

function refuse({ owners, operations }: Group, error: StoreError): void {
  for (const [index, owner] of owners.entries()) {
    const operation = operations[index];
    if ("operation" in owner) owner.result.reject(error);
    else if (operation?.kind === "write") owner.failed(operation, error);
  }
}
