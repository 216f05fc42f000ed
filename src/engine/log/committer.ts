import type { Clock } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import { CommitWriter, isTransient } from "../../store/commit-writer.ts";
import type {
  ContextWrite,
  InboxPost,
  LeaseClaim,
  Outcome,
  Store,
  StoreError,
  StoreOperation,
  TaskWrite,
  WebhookOperation,
} from "../../store/contract.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import { CommitPace } from "./commit-pace.ts";
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
  /** The store did not commit the write within `retryFor`. With the code `lost` it may be stored; else nothing of it is. */
  failed(write: TaskWrite, error: StoreError): void;
}

/** An operation that is committed with the writes of tasks but belongs to no writer. */
export type LooseOperation = InboxPost | LeaseClaim | ContextWrite | WebhookOperation;

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
  /** Milliseconds for which a commit is repeated: see {@link CommitWriter}. */
  readonly retryFor: number;
  /** Name of this engine among everything that commits to the store: see `CommitKey`. */
  readonly writer: string;
  /** The outcomes of a commit were handed out. */
  readonly onSettled?: () => void;
  /** The answer to a commit was lost, and its outcomes could not be found out in time: the store may have applied it, or may still. */
  readonly onLost?: () => void;
  readonly telemetry?: Pick<Telemetry, "commit"> | undefined;
  /** Counts refused operations. */
  readonly availability?: Pick<StoreAvailability, "refused" | "works">;
  /** A commit failed, and it is not known what the store has written. No caller may be answered any more. */
  readonly onFatal: (error: unknown) => void;
  /** How long chunks wait for others. For tests. */
  readonly pace?: CommitPace;
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
  /** When the present commit began, or the one beside it ended. */
  #progressAt = 0;
  #scheduled = false;
  /** The queue has more than chunks, so the next commit must not wait. */
  #isUrgent = false;
  readonly #pace: CommitPace;
  #waiting: NodeJS.Timeout | undefined;
  #dead = false;
  /** One for each commit that may run at a time. */
  readonly #writers: readonly CommitWriter[];
  #idle: Deferred<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    const { store, clock, writer } = options;
    this.#pace = options.pace ?? new CommitPace();
    this.#writers = [0, 1].map((index) => new CommitWriter({ store, clock, name: `${writer}/${index}` }));
  }

  /** Puts a source into the commit queue. `isUrgent`: false if its write has only chunks and nothing waits for them; they may wait for others. */
  mark(source: CommitSource, isUrgent: boolean): void {
    if (source.marked && (this.#isUrgent || !isUrgent)) return;
    if (isUrgent) this.#isUrgent = true;
    else this.#pace.chunksWritten();
    if (!source.marked) this.#queue.push(source);
    source.marked = true;
    this.#schedule();
  }

  /** Commits an operation with the next group. `onOutcome` is called before the sources of the same group learn their outcomes. */
  submit(operation: LooseOperation, onOutcome?: (outcome: Outcome) => void): Promise<Outcome> {
    const result = createDeferred<Outcome>();
    this.#queue.push({ operation, result, onOutcome });
    this.#isUrgent = true;
    this.#schedule();
    return result.promise;
  }

  /** Milliseconds since a commit began or ended, while one runs. 0: none runs. */
  get busyFor(): number {
    return this.#running === 0 ? 0 : this.#options.clock.now() - this.#progressAt;
  }

  /** Resolves when the commit queue is empty and no commit runs. */
  idle(): Promise<void> {
    if (this.#dead || (this.#running === 0 && this.#queue.length === 0)) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    this.#isUrgent = true;
    this.#schedule();
    return this.#idle.promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#dead || !this.#mayStart()) return;
    const wait = this.#wait;
    if (wait > 0) {
      this.#waiting ??= setTimeout(() => {
        this.#waiting = undefined;
        this.#schedule();
      }, wait);
      return;
    }
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  /** Milliseconds for which the queue should wait for more; 0: it should be committed now. */
  get #wait(): number {
    return this.#isUrgent ? 0 : this.#pace.wait;
  }

  /** A commit may start if none runs; a second one only if enough tasks wait. */
  #mayStart(): boolean {
    return this.#running === 0 || (this.#running === 1 && this.#queue.length >= MIN_SECOND_COMMIT);
  }

  #start(): void {
    if (this.#dead || !this.#mayStart()) return;
    const group = this.#collectGroup();
    if (group === undefined) return;
    if (this.#waiting !== undefined) clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#pace.started();
    void this.#run(group);
  }

  async #run(group: Group): Promise<void> {
    if (this.#running++ === 0) this.#progressAt = this.#options.clock.now();
    let hasYielded = false;
    const yielded = setImmediate(() => {
      hasYielded = true;
    });
    try {
      settle(group, await this.#observed(group.operations));
      this.#options.onSettled?.();
      this.#options.availability?.works();
    } catch (error) {
      if (!isTransient(error)) return this.#die(error);
      this.#options.availability?.refused(error, group.operations.length);
      refuse(group, error);
      if (error.code === "lost") this.#options.onLost?.();
    }
    clearImmediate(yielded);
    this.#running--;
    this.#pace.finished(hasYielded);
    this.#progressAt = this.#options.clock.now();
    // Start the next commit now, before the tasks that were just notified run, so that the store need not wait for them. But if the store
    // answered within one turn of the event loop, let the loop turn first: otherwise a busy run would starve sockets and timers.
    if (hasYielded && this.#wait === 0) this.#start();
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
    // A source that was left over may have more than chunks.
    this.#isUrgent = this.#queue.length > 0;
    return group.operations.length === 0 ? undefined : group;
  }

  #observed(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const { telemetry } = this.#options;
    if (telemetry?.commit === undefined) return this.#commit(operations);
    const began = performance.now();
    const report = (ok: boolean): void =>
      telemetry.commit?.({ operations: operations.length, durationMs: performance.now() - began, ok });
    return this.#commit(operations).then(
      (outcomes) => {
        report(true);
        return outcomes;
      },
      (error: unknown) => {
        report(false);
        throw error;
      },
    );
  }

  #commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const writer = this.#writers.find(({ isBusy }) => !isBusy);
    if (writer === undefined) throw new Error("More commits run than the committer starts.");
    return writer.commit(operations, this.#options.retryFor);
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

function settle({ owners, operations }: Group, outcomes: readonly Outcome[]): void {
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
