import { randomUUID } from "node:crypto";
import type { Bus } from "../bus/contract.ts";
import { type AdjustableClock, createClock, type Timer } from "../internal/clock.ts";
import { createDeferred } from "../internal/deferred.ts";
import type { Logger } from "../internal/logger.ts";
import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { otherTaskKey, taskKey } from "../protocol/task-key.ts";
import type { ListQuery, Store } from "../store/contract.ts";
import type { Agent } from "./agent/agent.ts";
import type {
  Caller,
  CancelResult,
  Engine,
  EngineHooks,
  SnapshotOptions,
  Submission,
  Submitted,
  SubscribeOptions,
  Subscription,
  TaskPage,
  Ticket,
} from "./api.ts";
import { cancelTask } from "./intake/cancel.ts";
import { consumed } from "./intake/consumed.ts";
import type { SendsUnderWay } from "./intake/once.ts";
import { refusedTask } from "./intake/refused-task.ts";
import { settled } from "./intake/settled.ts";
import { submit } from "./intake/submit.ts";
import { type Limits, limitsFrom } from "./limits.ts";
import { Committer } from "./log/committer.ts";
import { StoreAvailability } from "./log/store-availability.ts";
import type { Feed } from "./read/feed.ts";
import { Feeds } from "./read/feeds.ts";
import { ReadRetries } from "./read/read-retries.ts";
import { recordedTask, takeSnapshot } from "./read/snapshot.ts";
import { StateHistories } from "./read/state-history.ts";
import { openSubscription } from "./read/subscription.ts";
import { ticketOf } from "./read/ticket.ts";
import { type CrashStart, Recovery } from "./recover/recovery.ts";
import { Rounds } from "./recover/rounds.ts";
import { type TakenUp, type TakeUpHow, takeUp } from "./recover/take-up.ts";
import type { RunEnvironment } from "./run/run.ts";
import { Runs } from "./run/runs.ts";
import { createSealer } from "./run/seal.ts";
import { StoreProbe } from "./store-probe.ts";

export interface EngineOptions {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly bus: Bus;
  /** Names this process among those that share the store. Default: made up. */
  readonly node?: string;
  /** Names the server in the paths of calls: the same after a restart and for all nodes of one store. Default: that of this process. */
  readonly serverId?: string;
  readonly clock?: AdjustableClock;
  readonly limits?: Partial<Limits>;
  readonly hooks?: EngineHooks;
  readonly logger: Logger;
  /** Seals answers that must not be kept in the clear; 32 bytes. The same after a restart, or such answers are asked for again. */
  readonly secret: Uint8Array;
  /** Milliseconds a run has to end after a cancel or at its deadline. Default 5000. */
  readonly cancelGrace?: number;
  /** Milliseconds this process's leases last unless renewed. Default 30000. */
  readonly leaseMs?: number;
  /** Milliseconds of waiting after which a run is let go of until there is something for it. Default 30000. */
  readonly parkAfter?: number;
  /** Milliseconds a busy or full store is tried again before runs are given up. Default 10000. */
  readonly storeRetry?: number;
  /** The store can no longer be trusted to say what it holds: the process must end, and recovery decides. */
  readonly onFatal: (error: unknown) => void;
}

/** An engine together with its life. */
export interface RunningEngine extends Engine {
  /** Takes up what earlier processes left, and begins to look after leases and wake-ups. */
  start(): Promise<void>;
  /** Takes in nothing more, waits for runs to end, then hands what is left to the next start. Readers are let go. */
  drain(timeout: number): Promise<void>;
  close(): Promise<void>;
  counts(): EngineCounts;
}

export interface EngineCounts {
  readonly running: number;
  readonly queued: number;
  /** Runs that lost their task and have not returned. */
  readonly orphans: number;
  readonly live: number;
  readonly subscribers: number;
  /** Writes and reads that were given up since the start because the store was unavailable for longer than `storeRetry`. */
  readonly storeRefusals: number;
}

/** What the parts of the engine share. */
export interface EngineParts {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly node: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly runs: Runs;
  readonly environment: RunEnvironment;
  readonly stateHistories: StateHistories;
  /** Sends that are to count once and are not in the store yet. */
  readonly sendsUnderWay: SendsUnderWay;
  /** The server is going down. */
  readonly isClosing: () => boolean;
}

export function createEngine(options: EngineOptions): RunningEngine {
  return new TaskEngine(options);
}

class TaskEngine implements RunningEngine {
  readonly #parts: EngineParts;
  readonly #rounds: Rounds;
  readonly #availability: StoreAvailability;
  readonly #probe: StoreProbe;
  readonly #takingUp = new Set<TaskId>();
  readonly #recovery: Recovery;
  /** Tasks whose lease this process holds but whose run it had to give up; with how they were to be started after a crash, if they were. */
  readonly #dropped = new Map<TaskId, CrashStart | undefined>();
  #subscribers = 0;
  readonly #subscribersOf = new Map<TaskId, number>();
  #phase: "open" | "draining" | "closing" = "open";
  #fatal: unknown;
  readonly #died = createDeferred<void>();
  #drained: Promise<void> | undefined;
  #retry: Timer | undefined;

  constructor(options: EngineOptions) {
    const { bus, logger, hooks = {}, storeRetry = 10_000 } = options;
    const clock = options.clock ?? createClock();
    const availability = new StoreAvailability(clock, logger);
    const store = new ReadRetries(options.store, {
      clock,
      retryFor: storeRetry,
      onRefused: (error) => availability.refused(error, 1),
    });
    this.#availability = availability;
    this.#probe = new StoreProbe(store, () => availability.works());
    const limits = limitsFrom(options.limits);
    const agents = new Map(options.agents.map((agent) => [agent.id, agent]));
    const node = options.node ?? randomUUID();
    const environment: RunEnvironment = {
      clock,
      limits,
      logger,
      hooks,
      sealer: createSealer(options.secret),
      serverId: options.serverId ?? node,
      parkAfter: options.parkAfter ?? 30_000,
      grace: options.cancelGrace ?? 5000,
    };
    const committer = new Committer({
      store,
      clock,
      retryFor: storeRetry,
      availability,
      onFatal: (error) => {
        this.#fatal = error;
        this.#died.resolve();
        options.onFatal(error);
      },
    });
    const feeds = new Feeds(store, limits);
    const runs = new Runs({
      agents,
      node,
      store,
      bus,
      committer,
      feeds,
      environment,
      onReleased: (id) => this.#release(id),
    });
    this.#parts = {
      agents,
      node,
      store,
      bus,
      committer,
      feeds,
      runs,
      environment,
      stateHistories: new StateHistories(store),
      sendsUnderWay: new Map(),
      isClosing: () => this.#phase === "closing",
    };
    this.#recovery = new Recovery(runs, clock);
    this.#rounds = new Rounds({
      parts: this.#parts,
      clock,
      recovery: this.#recovery,
      leaseMs: options.leaseMs ?? 30_000,
      takeUp: (id, crash) => this.#takeUp(id, { isOwn: this.#dropped.has(id), crash: crash ?? this.#dropped.get(id) }),
    });
  }

  start(): Promise<void> {
    return this.#rounds.start();
  }

  submit(submission: Submission): Promise<Submitted> {
    if (this.#phase === "open" && this.#recovery.isAlone)
      return this.#recovery.makeRoom().then(() => this.submit(submission));
    if (this.#phase === "open") return submit(this.#parts, submission);
    return Promise.reject(new A2AError("unavailable", "The server is shutting down.", { retryAfter: 1 }));
  }

  async accepted(ticket: Ticket): Promise<void> {
    // A message to a task that exists was committed before its ticket was written.
    if (ticket.inbox !== undefined) return;
    const writer = this.#parts.runs.writer(ticket.key);
    if (writer === undefined || writer.isStored) return;
    await writer.flush().catch((cause: unknown) => {
      throw refusedTask(writer.loss, cause);
    });
  }

  consumed(ticket: Ticket, caller: Caller): Promise<void> {
    return consumed(this.#parts, ticket, caller);
  }

  settled(ticket: Ticket, caller: Caller): Promise<void> {
    return settled(this.#parts, ticket, caller);
  }

  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined> {
    return lookUp(scope, id, (key) => takeSnapshot(this.#parts, { scope, id: key }, options));
  }

  async list(query: ListQuery): Promise<TaskPage> {
    const { store } = this.#parts;
    const page = await store.list(query);
    const tasks: StoredTask[] = [];
    // One by one: a page is small, but the logs that its tasks are folded from need not be.
    for (const record of page.tasks) {
      const task = await recordedTask(store, record, query);
      if (task !== undefined) tasks.push(task);
    }
    return { tasks, total: page.total, ...(page.next !== undefined && { next: page.next }) };
  }

  async cancel(scope: Scope, id: TaskId): Promise<CancelResult> {
    return (await lookUp(scope, id, (key) => cancelTask(this.#parts, scope, key))) ?? "not-found";
  }

  subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined> {
    const { ticket } = options;
    if (ticket !== undefined) return this.#subscribe(scope, ticket.key, options);
    return lookUp(scope, id, (key) => this.#subscribe(scope, key, options));
  }

  async #subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined> {
    const { feeds, store, environment, isClosing } = this.#parts;
    const { maxSubscribers, maxSubscribersPerTask } = environment.limits;
    const ofTask = this.#subscribersOf.get(id) ?? 0;
    if (this.#subscribers >= maxSubscribers || ofTask >= maxSubscribersPerTask) {
      throw new A2AError("resource-exhausted", "Too many subscribers; try again later.", { retryAfter: 5 });
    }
    // Counted before anything is awaited: callers that come at the same time must not all find room.
    this.#count(id, 1);
    let feed: Feed | undefined;
    let opened: Subscription | undefined;
    try {
      feed = await feeds.acquire(id, scope);
      if (feed === undefined) return undefined;
      if (options.ticket !== undefined) await this.accepted(options.ticket);
      opened = await openSubscription({ store, feeds, isClosing, onClose: () => this.#count(id, -1) }, feed, options);
      return opened;
    } finally {
      if (opened === undefined) {
        this.#count(id, -1);
        if (feed !== undefined) feeds.release(feed);
      }
    }
  }

  async findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined> {
    const { store } = this.#parts;
    const trace = await store.findByMessage(scope, messageId);
    const record =
      trace === undefined ? undefined : await store.get(trace.task, { scope, artifacts: false, history: 0 });
    return record === undefined ? undefined : ticketOf(record);
  }

  find(scope: Scope, id: TaskId): Promise<Ticket | undefined> {
    const { store } = this.#parts;
    return lookUp(scope, id, async (key) => {
      const record = await store.get(key, { scope, artifacts: false, history: 0 });
      return record === undefined ? undefined : ticketOf(record);
    });
  }

  async ready(): Promise<void> {
    if (this.#fatal !== undefined)
      throw new A2AError("unavailable", "The store failed; the server is stopping.", { cause: this.#fatal });
    if (this.#phase !== "open") throw new A2AError("unavailable", "The server is shutting down.", { retryAfter: 1 });
    if (!this.#rounds.isHealthy)
      throw new A2AError("unavailable", "The server could not renew its lease on the store.", { retryAfter: 1 });
    await this.#probe.check();
  }

  counts(): EngineCounts {
    const { runs } = this.#parts;
    const { refusals } = this.#availability;
    return { ...runs.counts(), live: runs.size, subscribers: this.#subscribers, storeRefusals: refusals };
  }

  drain(timeout: number): Promise<void> {
    this.#drained ??= this.#drain(timeout);
    return this.#drained;
  }

  async #drain(timeout: number): Promise<void> {
    this.#phase = "draining";
    const { runs, feeds, committer } = this.#parts;
    // After a commit of unknown outcome nothing can be handed over, and nobody may be answered.
    if (this.#fatal !== undefined) return;
    await Promise.race([runs.drain(timeout), this.#died.promise]);
    await committer.idle();
    if (this.#fatal !== undefined) return;
    this.#phase = "closing";
    feeds.wakeAll();
  }

  async close(): Promise<void> {
    await this.drain(0);
    this.#retry?.cancel();
    await this.#rounds.stop();
  }

  #count(id: TaskId, by: 1 | -1): void {
    this.#subscribers += by;
    const count = (this.#subscribersOf.get(id) ?? 0) + by;
    if (count > 0) this.#subscribersOf.set(id, count);
    else this.#subscribersOf.delete(id);
  }

  /** A task was let go of here, and something may be waiting for it. */
  #release(id: TaskId): void {
    if (this.#recovery.has(id)) {
      void this.#endIfCanceled(id);
      return;
    }
    this.#dropped.set(id, undefined);
    void this.#takeUp(id, { isOwn: true });
  }

  /** A crashed task that waits for its group is not started by a message, but a cancel that needs no run ends it at once. */
  async #endIfCanceled(id: TaskId): Promise<void> {
    const { store, agents, environment } = this.#parts;
    try {
      const [record, inbox] = await Promise.all([store.get(id, { artifacts: false, history: 0 }), store.inbox(id)]);
      const agent = record && agents.get(record.scope.agent);
      const isCanceled = inbox.some(({ kind }) => kind === "cancel");
      if (isCanceled && agent !== undefined && agent.onCancel !== "resume")
        await this.#takeUp(id, { isOwn: false, runs: false });
    } catch (error) {
      environment.logger.warn("A waiting task could not be looked at", { task: id, error });
    }
  }

  async #takeUp(id: TaskId, how: TakeUpHow): Promise<TakenUp> {
    const { runs, environment } = this.#parts;
    if (runs.has(id)) this.#dropped.delete(id);
    if (this.#phase !== "open" || this.#takingUp.has(id) || runs.has(id)) return "left";
    this.#takingUp.add(id);
    try {
      if (this.#recovery.isAlone && how.crash?.alone !== true && how.runs !== false) await this.#recovery.makeRoom();
      const result = await takeUp(this.#parts, id, how);
      this.#dropped.delete(id);
      return result;
    } catch (error) {
      environment.logger.warn("A task could not be taken up; it is tried again", { task: id, error });
      // It may have been claimed already, and then nobody else will look at it. By then others may be at work.
      this.#dropped.set(id, how.crash && { ...how.crash, alone: false });
      this.#retryDropped();
      return "left";
    } finally {
      this.#takingUp.delete(id);
    }
  }

  #retryDropped(): void {
    if (this.#retry !== undefined || this.#dropped.size === 0) return;
    const { clock } = this.#parts.environment;
    this.#retry = clock.setTimer(
      clock.now() + 1000,
      () => {
        this.#retry = undefined;
        for (const [id, crash] of this.#dropped) void this.#takeUp(id, { isOwn: true, crash });
      },
      { unref: true },
    );
  }
}

/** Looks for a task under what it may be kept as. */
async function lookUp<T>(
  scope: Scope,
  id: TaskId,
  look: (key: TaskId) => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look(taskKey(scope, id));
  const other = found === undefined ? otherTaskKey(scope, id) : undefined;
  return other === undefined ? found : look(other);
}
