import type { Hint } from "../../bus/contract.ts";
import { type AdjustableClock, slewTowards, type Timer } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { DueTask, DueTasks } from "../../store/contract.ts";
import type { EngineParts } from "../parts.ts";
import { type RunnerRecord, readRunner } from "../record/runner-record.ts";
import { hasProgressed } from "../run/turn.ts";
import type { Claimer } from "./claimer.ts";
import type { CrashedTask } from "./crash-groups.ts";
import type { Recovery } from "./recovery.ts";

/** Milliseconds between polls. */
const POLL_MS = 1000;
/** Tasks that one poll claims at most. */
const DUE_PER_POLL = 100;
/** Tasks that the first poll reads at most: all tasks of a crashed process must be divided into groups together. */
const CRASHED_PER_POLL = 10_000;
/** Milliseconds between polls while crashed tasks wait for the group before theirs. */
const GROUP_POLL_MS = 100;

export interface PollLoopOptions {
  readonly parts: EngineParts;
  readonly clock: AdjustableClock;
  readonly leaseMs: number;
  readonly recovery: Recovery;
  readonly claimer: Claimer;
  /** False while the server shuts down: nothing is claimed any more. */
  readonly isOpen: () => boolean;
}

/**
 * Renews the lease of this node, and polls the store every second for work: due tasks that no living node holds, new log entries and inbox
 * messages written by other nodes. Hints on the bus only make this faster; a lost hint is made up for by the next poll.
 */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #renewedAt = 0;
  /** Store time at which the lease ends. The store's clock goes on while this process is suspended. */
  #renewedUntil: number | undefined;
  #renewal: Timer | undefined;
  #nextPoll: Timer | undefined;
  /** Tasks that this node has claimed and not looked at yet. */
  #unsorted: DueTask[] = [];
  /** Tasks that can be started, but another task must run alone first. */
  #ready: DueTask[] = [];
  /** The last claim filled its limit: more tasks may be due. */
  #isMoreDue = false;
  /** When the next task of no node becomes due, as of the last claim. */
  #nextWake: number | undefined;
  /** Until when the claims in the store are compared with those this node knows, because an answer was lost. */
  #reconcileUntil = 0;
  #isFirst = true;
  #stopped = false;
  #unsubscribe: (() => void) | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  /** The lease was renewed within the last half of its duration. */
  get isHealthy(): boolean {
    return performance.now() - this.#renewedAt < this.#options.leaseMs / 2;
  }

  async start(): Promise<void> {
    const { bus, node } = this.#options.parts;
    await this.#renew();
    this.#unsubscribe = bus.subscribe({
      node,
      onHints: (hints) => this.#onHints(hints),
      onReconnect: () => this.#safely("reconnect", this.#refresh()),
    });
    this.#armRenewal();
    this.#current = this.#poll();
    await this.#current;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#renewal?.cancel();
    this.#nextPoll?.cancel();
    this.#unsubscribe?.();
    await this.#current;
    const { store, node } = this.#options.parts;
    await store
      .leave(node)
      .catch((error: unknown) =>
        this.#warn("The node could not release its leases; other nodes wait until they expire.", error),
      );
  }

  /** The answer to a commit was lost: the store may give this node leases that it does not know of. */
  answerLost(): void {
    const { clock, leaseMs } = this.#options;
    this.#reconcileUntil = clock.now() + 2 * leaseMs;
  }

  #onHints(hints: readonly Hint[]): void {
    const { feeds, runs, node } = this.#options.parts;
    let behind: TaskId[] | undefined;
    for (const hint of hints) {
      if (hint.kind === "log") {
        if (!feeds.isBehind(hint.task, hint.seq)) continue;
        behind ??= [];
        behind.push(hint.task);
      } else if (hint.node === node) this.#safely("inbox", runs.checkInbox(hint.task));
    }
    if (behind !== undefined) this.#safely("follow", feeds.follow(behind));
  }

  async #poll(): Promise<void> {
    const { clock, recovery } = this.#options;
    let pause = POLL_MS;
    try {
      const began = clock.now();
      const hasMore = await this.#startDue();
      await this.#refresh();
      if (began < this.#reconcileUntil) await this.#reconcile();
      const wake = this.#nextWake;
      // Overdue tasks that could not be claimed must not shorten the pause.
      if (wake !== undefined && wake > began) pause = Math.min(POLL_MS, Math.max(1, wake - clock.now()));
      if (recovery.size > 0 || this.#ready.length > 0) pause = Math.min(pause, GROUP_POLL_MS);
      if (hasMore) pause = 1;
    } catch (error) {
      if (!this.#stopped) this.#warn("Polling the store failed; the next poll is in 1 s.", error);
    }
    if (this.#stopped) return;
    this.#nextPoll = clock.setTimer(
      clock.now() + pause,
      () => {
        this.#current = this.#poll();
      },
      { unref: true },
    );
  }

  /** Reads what other nodes have written, because hints may have been lost: events of followed tasks, and messages for tasks of this node. */
  async #refresh(): Promise<void> {
    const { parts, claimer } = this.#options;
    const [, idle] = await Promise.all([parts.feeds.refresh(), parts.runs.checkInboxes()]);
    for (const id of idle) if (!this.#isClaimed(id)) claimer.onReleased(id);
  }

  /** Continues the tasks that the store says this node holds, and that this process does not know of. */
  async #reconcile(): Promise<void> {
    const { parts, claimer, recovery } = this.#options;
    const { tasks } = await parts.store.claimsOf(parts.node);
    for (const { id } of tasks)
      if (!parts.runs.has(id) && !recovery.has(id) && !this.#isClaimed(id)) void claimer.adopt(id);
  }

  /** The task waits in this loop, or is being claimed. */
  #isClaimed(id: TaskId): boolean {
    const isIt = (task: DueTask): boolean => task.id === id;
    return this.#options.claimer.has(id) || this.#ready.some(isIt) || this.#unsorted.some(isIt);
  }

  /** Claims due tasks and starts them. True if more tasks can be started without a pause. */
  async #startDue(): Promise<boolean> {
    const { recovery, claimer } = this.#options;
    if (!this.#options.isOpen()) return false;
    if (!recovery.isStarting) await this.#claimDue();
    if (recovery.hasSolo) {
      if (this.#ready.length > 0 || recovery.isReady) void recovery.waitForSolo();
      return false;
    }
    const starts = recovery.next(DUE_PER_POLL);
    // While a suspect runs alone nothing else starts.
    const others = recovery.hasSolo ? [] : this.#ready.splice(0);
    const results = await Promise.all([
      ...starts.map((start) => claimer.start(start, start.crash).finally(() => recovery.started(start.id))),
      ...others.map((task) => claimer.start(task)),
    ]);
    return recovery.isStarting || (this.#isMoreDue && results.includes("claimed"));
  }

  /** Claims due tasks. Tasks whose process died go to the recovery; tasks whose wake time has come or whose inbox is not empty wait to be started. */
  async #claimDue(): Promise<void> {
    const limit = (this.#isFirst ? CRASHED_PER_POLL : DUE_PER_POLL) - this.#unsorted.length - this.#ready.length;
    const due = await this.#claimFromStore(limit);
    this.#isFirst = false;
    this.#isMoreDue = due.tasks.length >= limit;
    this.#nextWake = due.nextWake;
    this.#unsorted.push(...due.tasks);
    await this.#sort();
  }

  /** Divides the claimed tasks. If a read fails, the next poll does it again. */
  async #sort(): Promise<void> {
    const { parts, recovery } = this.#options;
    const ready: DueTask[] = [];
    const crashed: CrashedTask[] = [];
    const sort = async (task: DueTask): Promise<void> => {
      const runner = readRunner(task.head.runner);
      const hasCrashed = task.head.active && runner.released !== true && task.formerNode !== parts.node;
      if (hasCrashed) crashed.push(await this.#crashed(task, runner));
      else ready.push(task);
    };
    await Promise.all(this.#unsorted.map(sort));
    this.#unsorted = [];
    this.#ready.push(...ready);
    if (crashed.length > 0) recovery.add(crashed);
  }

  async #claimFromStore(limit: number): Promise<DueTasks> {
    const { store, node, agents } = this.#options.parts;
    if (limit <= 0) return { tasks: [] };
    try {
      return await store.claimDue({ node, agents: [...agents.keys()], limit });
    } catch (error) {
      // The store may have claimed tasks all the same.
      this.answerLost();
      throw error;
    }
  }

  async #crashed(task: DueTask, runner: RunnerRecord): Promise<CrashedTask> {
    const { id, epoch, formerNode } = task;
    // Progress since the last start matters only if that start followed a crash.
    const progressed =
      runner.idleCrashes !== undefined && hasProgressed(task, await this.#options.parts.store.steps(id));
    return { id, epoch, runner, node: formerNode, progressed };
  }

  #armRenewal(): void {
    const { clock, leaseMs } = this.#options;
    if (this.#stopped) return;
    this.#renewal = clock.setTimer(clock.now() + leaseMs / 4, () => void this.#renewOrLose(), { unref: true });
  }

  async #renewOrLose(): Promise<void> {
    try {
      await this.#renew();
    } catch (error) {
      this.#warn("The lease could not be renewed; trying again.", error);
      // When the lease ends, other nodes may claim the tasks. Stop writing after half of it.
      if (!this.isHealthy) this.#options.parts.runs.loseAll({ kind: "lease-lost" });
    }
    this.#armRenewal();
  }

  async #renew(): Promise<void> {
    const { parts, leaseMs, clock } = this.#options;
    const asked = performance.now();
    const { now } = await parts.store.heartbeat(parts.node, leaseMs);
    const hadLapsed = this.#renewedUntil !== undefined && now >= this.#renewedUntil;
    // The first heartbeat sets the clock. Later jumps of the store's clock move leases, but not deadlines and sleeps.
    if (this.#renewedUntil === undefined) clock.adjust(now);
    else slewTowards(clock, now, asked - this.#renewedAt);
    this.#renewedAt = asked;
    this.#renewedUntil = now + leaseMs;
    if (hadLapsed) await parts.runs.verifyLeases();
  }

  #safely(what: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#warn(`Work after a hint failed (${what}); the next poll repeats it.`, error));
  }

  #warn(message: string, error: unknown): void {
    this.#options.parts.environment.logger.warn(message, { error });
  }
}
