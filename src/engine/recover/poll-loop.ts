import { type AdjustableClock, slewTowards, type Timer } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { EngineParts } from "../parts.ts";
import { readRunner } from "../record/runner-record.ts";
import { hasProgressed } from "../run/turn.ts";
import type { ClaimResult } from "./claim-task.ts";
import type { CrashedTask } from "./crash-groups.ts";
import type { CrashStart, Recovery } from "./recovery.ts";

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
  /** `crash` is present if the task was running when its process died. */
  readonly claimTask: (id: TaskId, crash?: CrashStart) => Promise<ClaimResult>;
}

interface Due {
  readonly ready: readonly TaskId[];
  /** The page was full: more tasks may be due. */
  readonly isFull: boolean;
}

const NOTHING_DUE: Due = { ready: [], isFull: false };

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
  /** Due tasks of agents that this process does not serve: skipped in every poll. */
  #notServed: ReadonlySet<TaskId> = new Set();
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
    const { bus, feeds, runs } = this.#options.parts;
    await this.#renew();
    this.#unsubscribe = bus.subscribe(({ task, kind }) => {
      if (kind === "inbox") this.#safely("inbox", runs.checkInbox(task));
      else if (feeds.isBehind(task)) this.#safely("refresh", feeds.refresh([task]));
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

  async #poll(): Promise<void> {
    const { parts, clock } = this.#options;
    const { store, feeds, runs } = parts;
    let pause = POLL_MS;
    try {
      const began = clock.now();
      const hasMore = await this.#claimDue();
      await Promise.all([feeds.refresh(), runs.checkInboxes()]);
      const wake = await store.nextWake();
      // Overdue tasks that could not be claimed must not shorten the pause.
      if (wake !== undefined && wake > began) pause = Math.min(POLL_MS, Math.max(1, wake - clock.now()));
      if (this.#options.recovery.size > 0) pause = Math.min(pause, GROUP_POLL_MS);
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

  /** Claims due tasks. True if more tasks can be claimed without a pause: the page was full and at least one task was claimed. */
  async #claimDue(): Promise<boolean> {
    const { recovery, claimTask } = this.#options;
    const due = recovery.isStarting ? NOTHING_DUE : await this.#findDue();
    if (recovery.hasSolo) {
      if (due.ready.length > 0 || recovery.isReady) void recovery.waitForSolo();
      return false;
    }
    const starts = recovery.next(DUE_PER_POLL);
    // While a suspect runs alone nothing else starts; later polls find the other tasks again.
    const others = recovery.hasSolo ? [] : due.ready;
    const results = await Promise.all([
      ...starts.map(({ id, crash }) => claimTask(id, crash).finally(() => recovery.started(id))),
      ...others.map((id) => claimTask(id)),
    ]);
    return recovery.isStarting || (due.isFull && results.includes("claimed"));
  }

  /** Reads the due tasks. Tasks whose process died go to the recovery; `ready` are tasks whose wake time has come or whose inbox is not empty. */
  async #findDue(): Promise<Due> {
    const { parts, recovery } = this.#options;
    const { store, agents, runs } = parts;
    const limit = (this.#isFirst ? CRASHED_PER_POLL : DUE_PER_POLL) + this.#notServed.size + recovery.size;
    const due = await store.due(limit);
    this.#isFirst = false;
    const notServed = new Set<TaskId>(due.filter((id) => this.#notServed.has(id)));
    const ready: TaskId[] = [];
    const crashed: CrashedTask[] = [];
    const classify = async (id: TaskId): Promise<void> => {
      if (notServed.has(id) || runs.has(id) || recovery.has(id)) return;
      const record = await store.get(id, { artifacts: false, history: 0 });
      if (record === undefined) return;
      const { head, node, scope } = record;
      const runner = readRunner(head.runner);
      if (!agents.has(scope.agent)) notServed.add(id);
      else if (!head.active || runner.released === true || node === parts.node) ready.push(id);
      else {
        // Progress since the last start matters only if that start followed a crash.
        const progressed = runner.idleCrashes !== undefined && hasProgressed(record, await store.steps(id));
        crashed.push({ id, agent: scope.agent, runner, node, progressed });
      }
    };
    await Promise.all(due.map(classify));
    this.#notServed = notServed;
    if (crashed.length > 0) recovery.add(crashed);
    return { ready, isFull: due.length >= limit };
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
