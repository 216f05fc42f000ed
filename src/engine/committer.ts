import type { Clock } from "../internal/clock.ts";
import { createDeferred, type Deferred } from "../internal/deferred.ts";
import {
  type InboxPost,
  type LeaseClaim,
  type Outcome,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskWrite,
} from "../store/contract.ts";

/** Something that has writes of its own to commit: a task's writer. */
export interface CommitSource {
  /** It waits to be collected. Kept by the committer. */
  marked: boolean;
  /** What has gathered since it was last asked; `undefined`: nothing. Called once per commit. */
  collect(): TaskWrite | undefined;
  committed(write: TaskWrite, outcome: Outcome): void;
  /** The store did not take it within the time it is retried. Nothing of the write is there. */
  failed(write: TaskWrite, error: StoreError): void;
}

interface Posted {
  readonly operation: InboxPost | LeaseClaim;
  readonly result: Deferred<Outcome>;
  readonly onOutcome: ((outcome: Outcome) => void) | undefined;
}

/** What goes into one transaction, and whose it is. */
interface Group {
  readonly operations: StoreOperation[];
  readonly owners: Array<CommitSource | Posted>;
}

export interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** How long a busy or full store is tried again, in ms. */
  readonly retryFor: number;
  /** What was committed cannot be known: nobody may be answered any more. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * Group commit. What all tasks write while one commit is under way, or until the event loop's turn ends, goes into the next as
 * one transaction. Only one commit is under way at a time, so what is committed is committed in the order it was asked for.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Array<CommitSource | Posted> = [];
  #busy = false;
  #scheduled = false;
  #dead = false;
  #idle: Deferred<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** This source has something to commit. */
  mark(source: CommitSource): void {
    if (source.marked) return;
    source.marked = true;
    this.#queue.push(source);
    this.#schedule();
  }

  /** Commits one operation with the next group. `onOutcome` is called before anybody hears of the writes of the same group. */
  submit(operation: InboxPost | LeaseClaim, onOutcome?: (outcome: Outcome) => void): Promise<Outcome> {
    const result = createDeferred<Outcome>();
    this.#queue.push({ operation, result, onOutcome });
    this.#schedule();
    return result.promise;
  }

  /** Resolves when nothing is waiting to be committed. */
  idle(): Promise<void> {
    if (this.#dead || (!this.#busy && this.#queue.length === 0)) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #schedule(): void {
    if (this.#busy || this.#scheduled || this.#dead) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let group = this.#gather(); group !== undefined; ) {
      let turned = false;
      const turn = setImmediate(() => {
        turned = true;
      });
      try {
        settle(group, await this.#commit(group.operations));
      } catch (error) {
        if (!isPassing(error)) return this.#die(error);
        refuse(group, error);
      }
      clearImmediate(turn);
      // The next group leaves in the same breath, before those who were woken do anything, so that the store is not kept waiting.
      // But with a store that answers at once it goes by way of the event loop: a busy author would else keep sockets and
      // timers from their turn.
      group = turned ? this.#gather() : undefined;
    }
    this.#busy = false;
    if (this.#queue.length > 0) this.#schedule();
    else {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }

  #gather(): Group | undefined {
    const queue = this.#queue;
    this.#queue = [];
    const group: Group = { operations: [], owners: [] };
    for (const item of queue) {
      const operation = "operation" in item ? item.operation : collect(item);
      if (operation === undefined) continue;
      group.operations.push(operation);
      group.owners.push(item);
    }
    return group.operations.length === 0 ? undefined : group;
  }

  /** One commit, tried again while the store says that nothing was written. */
  async #commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const { store, clock, retryFor } = this.#options;
    const giveUp = clock.now() + retryFor;
    for (let pause = 5; ; pause = Math.min(pause * 2, 500)) {
      try {
        return await store.commit(operations);
      } catch (error) {
        if (!isPassing(error) || clock.now() + pause > giveUp) throw error;
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

/** Nothing was written, and another try may succeed. */
function isPassing(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === "busy" || error.code === "full");
}

function settle({ owners, operations }: Group, outcomes: readonly Outcome[]): void {
  if (outcomes.length !== operations.length)
    throw new StoreError("unknown", "The store did not answer for every operation.");
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
