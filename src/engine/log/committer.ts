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

/** Something that has writes of its own to commit: a task's writer. */
export interface CommitSource {
  /** It waits to be collected. Kept by the committer. */
  marked: boolean;
  /** Its last write is still on its way: it must not be collected again before that has come back. */
  readonly isInFlight: boolean;
  /** What has gathered since it was last asked; `undefined`: nothing. Called once per commit. */
  collect(): TaskWrite | undefined;
  committed(write: TaskWrite, outcome: Outcome): void;
  /** The store did not take it within the time it is retried. Nothing of the write is there. */
  failed(write: TaskWrite, error: StoreError): void;
}

/** What is committed besides the writes of tasks. */
export type LooseOperation = InboxPost | LeaseClaim | WebhookOperation;

interface Posted {
  readonly operation: LooseOperation;
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
  /** Is told what the store took and what it refused. */
  readonly availability?: Pick<StoreAvailability, "refused" | "works">;
  /** What was committed cannot be known: nobody may be answered any more. */
  readonly onFatal: (error: unknown) => void;
}

/** So many tasks at least make a second commit worth its disk flush while the first is under way. */
const WORTH_A_COMMIT = 8;

/**
 * Group commit. What all tasks write while a commit is under way, or until the event loop's turn ends, goes into the next as
 * one transaction. Two at most are under way, so that the store finds the next one waiting when it is done with the last; what
 * one task writes is never in both, so each task's writes are committed in the order they were made.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Array<CommitSource | Posted> = [];
  #underWay = 0;
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
  submit(operation: LooseOperation, onOutcome?: (outcome: Outcome) => void): Promise<Outcome> {
    const result = createDeferred<Outcome>();
    this.#queue.push({ operation, result, onOutcome });
    this.#schedule();
    return result.promise;
  }

  /** Resolves when nothing is waiting to be committed. */
  idle(): Promise<void> {
    if (this.#dead || (this.#underWay === 0 && this.#queue.length === 0)) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#dead || !this.#mayLeave()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#leave();
    });
  }

  /** One group is on its way whenever there is something; a second one only when enough has gathered to be worth a commit. */
  #mayLeave(): boolean {
    return this.#underWay === 0 || (this.#underWay === 1 && this.#queue.length >= WORTH_A_COMMIT);
  }

  #leave(): void {
    if (this.#dead || !this.#mayLeave()) return;
    const group = this.#gather();
    if (group !== undefined) void this.#carry(group);
  }

  async #carry(group: Group): Promise<void> {
    this.#underWay++;
    let turned = false;
    const turn = setImmediate(() => {
      turned = true;
    });
    try {
      settle(group, await this.#commit(group.operations));
      this.#options.availability?.works();
    } catch (error) {
      if (!isPassing(error)) return this.#die(error);
      this.#options.availability?.refused(error, group.operations.length);
      refuse(group, error);
    }
    clearImmediate(turn);
    this.#underWay--;
    // The next group leaves in the same breath, before those who were woken do anything, so that the store is not kept waiting.
    // But with a store that answers at once it goes by way of the event loop: a busy author would else keep sockets and
    // timers from their turn.
    if (turned) this.#leave();
    else this.#schedule();
    if (this.#underWay > 0 || this.#queue.length > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Everything that waits, but for writers whose last write is still on its way. */
  #gather(): Group | undefined {
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
