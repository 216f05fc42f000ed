import { randomUUID } from "node:crypto";
import { createClock } from "../internal/clock.ts";
import { createDeferred } from "../internal/deferred.ts";
import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { otherTaskKey, taskKey } from "../protocol/task-key.ts";
import type { ListQuery } from "../store/contract.ts";
import { callLimitsOf } from "./agent/call-limits.ts";
import type { CallLimits } from "./agent/call-types.ts";
import type {
  CancelResult,
  ChangeWait,
  SnapshotOptions,
  Submission,
  Submitted,
  SubscribeOptions,
  Subscription,
  TaskPage,
  Ticket,
} from "./api.ts";
import { CallGuard } from "./call/call-guard.ts";
import type { CallEnvironment } from "./call/child-tasks.ts";
import { TreeBudgets } from "./call/tree-budgets.ts";
import type { EngineCounts, EngineOptions, RunningEngine } from "./engine-options.ts";
import { cancelTask } from "./intake/cancel.ts";
import { changed } from "./intake/changed.ts";
import { submit } from "./intake/submit.ts";
import { ticketOf } from "./intake/ticket.ts";
import { limitsFrom } from "./limits.ts";
import { Committer } from "./log/committer.ts";
import { StoreAvailability } from "./log/store-availability.ts";
import type { EngineParts } from "./parts.ts";
import { Feeds } from "./read/feeds.ts";
import { ReadRetries } from "./read/read-retries.ts";
import { recordedTask, takeSnapshot } from "./read/snapshot.ts";
import { StateHistories } from "./read/state-history.ts";
import { Subscriptions } from "./read/subscriptions.ts";
import { NodeLease } from "./record/node-lease.ts";
import { createSealer } from "./record/seal.ts";
import { Claimer } from "./recover/claimer.ts";
import { PollLoop } from "./recover/poll-loop.ts";
import { Recovery } from "./recover/recovery.ts";
import { RetentionSweeper } from "./retention-sweeper.ts";
import { IdleRuns } from "./run/idle-runs.ts";
import type { RunEnvironment } from "./run/run-environment.ts";
import { Runs } from "./run/runs.ts";
import { StoreProbe } from "./store-probe.ts";

export function createEngine(options: EngineOptions): RunningEngine {
  return new TaskEngine(options);
}

/** Milliseconds without progress after which the process counts as stuck. Every call of a store that fails ends earlier. */
const LONGEST_STALL_MS = 120_000;

class TaskEngine implements RunningEngine {
  readonly #parts: EngineParts;
  readonly #pollLoop: PollLoop;
  readonly #sweeper: RetentionSweeper;
  readonly #availability: StoreAvailability;
  readonly #probe: StoreProbe;
  readonly #recovery: Recovery;
  readonly #claimer: Claimer;
  #phase: "open" | "draining" | "closing" = "open";
  #fatal: unknown;
  readonly #died = createDeferred<void>();
  #drained: Promise<void> | undefined;

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
    const lease = options.lease ?? new NodeLease(options.leaseMs ?? 30_000, clock);
    const environment: RunEnvironment = {
      node,
      lease,
      clock,
      limits,
      logger,
      hooks,
      telemetry: options.telemetry,
      sealer: createSealer(options.secret),
      serverId: options.serverId ?? node,
      calls: callEnvironment(options, { node, now: () => clock.now() }),
      parkAfter: options.parkAfter ?? 30_000,
      idleRuns: new IdleRuns(clock, limits.maxWaitingRuns),
      grace: options.cancelGrace ?? 5000,
    };
    const committer = new Committer({
      store,
      clock,
      retryFor: storeRetry,
      // A process with the same node id counts its commits from 1 again.
      writer: `${node}/${randomUUID()}`,
      telemetry: options.telemetry,
      availability,
      onSettled: () => this.#parts.runs.publishHints(),
      onLost: () => this.#pollLoop.answerLost(),
      onFatal: (error) => {
        this.#fatal = error;
        this.#died.resolve();
        options.onFatal(error);
      },
    });
    const feeds = new Feeds({ store, bus, limits });
    const runs = new Runs({
      agents,
      node,
      store,
      bus,
      committer,
      feeds,
      environment,
      onReleased: (id) => this.#claimer.onReleased(id),
    });
    const isClosing = (): boolean => this.#phase === "closing";
    this.#parts = {
      agents,
      node,
      store,
      bus,
      committer,
      feeds,
      subscriptions: new Subscriptions({ store, feeds, isClosing }, limits),
      runs,
      environment,
      stateHistories: new StateHistories(store),
      pendingSends: new Map(),
      isClosing,
    };
    this.#recovery = new Recovery(runs, clock);
    const isOpen = (): boolean => this.#phase === "open";
    this.#claimer = new Claimer({ parts: this.#parts, recovery: this.#recovery, isOpen });
    this.#sweeper = new RetentionSweeper({ store, clock, logger });
    this.#pollLoop = new PollLoop({
      parts: this.#parts,
      clock,
      recovery: this.#recovery,
      claimer: this.#claimer,
      isOpen,
    });
  }

  async start(): Promise<void> {
    await this.#pollLoop.start();
    this.#sweeper.start();
  }

  submit(submission: Submission): Submitted | Promise<Submitted> {
    if (this.#phase === "open" && this.#recovery.hasSolo)
      return this.#recovery.waitForSolo().then(() => this.submit(submission));
    if (this.#phase === "open") return submit(this.#parts, submission);
    throw new A2AError("unavailable", "The server is shutting down.", { retryAfter: 1 });
  }

  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined> {
    return lookUp(scope, id, (key) => takeSnapshot(this.#parts, { scope, id: key }, options));
  }

  async changed(scope: Scope, id: TaskId, wait: ChangeWait): Promise<void> {
    await lookUp(scope, id, async (key) => (await changed(this.#parts, { scope, id: key }, wait)) || undefined);
  }

  async list(query: ListQuery): Promise<TaskPage> {
    const { store } = this.#parts;
    const page = await store.list(query);
    const tasks: StoredTask[] = [];
    // One after the other: folding a task may need its whole log, and logs may be large.
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
    const { subscriptions, feeds } = this.#parts;
    return lookUp(scope, id, (key) => subscriptions.open(key, () => feeds.acquire(key, scope), options));
  }

  async findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined> {
    const { store } = this.#parts;
    const trace = await store.findByMessage(scope, messageId);
    const record =
      trace === undefined ? undefined : await store.get(trace.task, { scope, artifacts: false, history: 0 });
    return record === undefined ? undefined : ticketOf(this.#parts, record);
  }

  find(scope: Scope, id: TaskId): Promise<Ticket | undefined> {
    const { store } = this.#parts;
    return lookUp(scope, id, async (key) => {
      const record = await store.get(key, { scope, artifacts: false, history: 0 });
      return record === undefined ? undefined : ticketOf(this.#parts, record);
    });
  }

  async ready(): Promise<void> {
    if (this.#fatal !== undefined)
      throw new A2AError("unavailable", "The store failed; the server is stopping.", { cause: this.#fatal });
    if (this.#phase !== "open") throw new A2AError("unavailable", "The server is shutting down.", { retryAfter: 1 });
    if (!this.#parts.environment.lease.isFresh)
      throw new A2AError("unavailable", "The server could not renew its lease in the store.", { retryAfter: 1 });
    await this.#probe.check();
  }

  alive(): void {
    if (this.#phase !== "open") return;
    if (this.#pollLoop.idleFor >= LONGEST_STALL_MS)
      throw new A2AError("unavailable", "The server has not polled its store for two minutes.");
    if (this.#parts.committer.busyFor >= LONGEST_STALL_MS)
      throw new A2AError("unavailable", "A commit has neither succeeded nor failed for two minutes.");
  }

  counts(): EngineCounts {
    const { runs, subscriptions } = this.#parts;
    const { refusals } = this.#availability;
    return { ...runs.counts(), live: runs.size, subscribers: subscriptions.size, storeRefusals: refusals };
  }

  drain(timeout: number, handsOver = false): Promise<void> {
    this.#drained ??= this.#drain(timeout, handsOver && this.#pollLoop.hasOthers);
    return this.#drained;
  }

  async #drain(timeout: number, handsOver: boolean): Promise<void> {
    this.#phase = "draining";
    void this.#sweeper.stop();
    const { runs, feeds, committer } = this.#parts;
    // After a commit with an unknown outcome, no run can be released and no caller answered.
    if (this.#fatal !== undefined) return;
    await Promise.race([runs.drain(timeout, handsOver), this.#died.promise]);
    await committer.idle();
    if (this.#fatal !== undefined) return;
    this.#phase = "closing";
    feeds.wakeAll();
  }

  async close(): Promise<void> {
    await this.drain(0);
    this.#claimer.stop();
    await Promise.all([this.#sweeper.stop(), this.#pollLoop.stop()]);
  }
}

function callEnvironment(
  { callees, callLimits, onCall, onUsage, agents }: EngineOptions,
  place: Pick<CallEnvironment, "node" | "now">,
): CallEnvironment | undefined {
  if (callees === undefined) return undefined;
  const limits = new Map(agents.map(({ id, calls }) => [id, callLimitsOf(callLimits, calls)]));
  const limitsOf = (agent: string): CallLimits => limits.get(agent) ?? callLimitsOf(callLimits);
  return { ...place, callees, guard: new CallGuard(), budgets: new TreeBudgets(), limitsOf, onCall, onUsage };
}

/** Calls `look` with each key under which a task with this id may be stored, until it finds the task. */
async function lookUp<T>(
  scope: Scope,
  id: TaskId,
  look: (key: TaskId) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look(taskKey(scope, id));
  const other = found === undefined ? otherTaskKey(scope, id) : undefined;
  return other === undefined ? found : look(other);
}
