import { type AdjustableClock, slewTowards, type Timer } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { EngineParts } from "../parts.ts";
import { readRunner } from "../record/runner-record.ts";
import { hasProgressed } from "../run/turn.ts";
import type { ClaimResult } from "./claim-task.ts";
import type { CrashedTask } from "./crash-groups.ts";
import type { CrashStart, Recovery } from "./recovery.ts";

const ROUND_MS = 1000;
const DUE_AT_A_TIME = 100;
/** Tasks of a process that died are judged together, up to this many. */
const CRASHED_AT_A_TIME = 10_000;
/** Milliseconds between polls while tasks wait for the group before theirs. */
const GROUP_POLL_MS = 100;

export interface PollLoopOptions {
  readonly parts: EngineParts;
  readonly clock: AdjustableClock;
  readonly leaseMs: number;
  readonly recovery: Recovery;
  /** `crash`: the task was at work when its process died. */
  readonly claimTask: (id: TaskId, crash?: CrashStart) => Promise<ClaimResult>;
}

interface Due {
  readonly ready: readonly TaskId[];
  /** There may be more than one poll could hold. */
  readonly isFull: boolean;
}

const NOTHING_DUE: Due = { ready: [], isFull: false };

/**
 * What must be looked after whatever happens: the lease of this process, tasks nobody is at work on, logs that other
 * processes write, and what the store keeps too long. Hints make most of it quicker; the rounds make it certain.
 */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #renewedAt = 0;
  /** In the store's time, which goes on while this process is suspended. */
  #renewedUntil: number | undefined;
  #renewal: Timer | undefined;
  #round: Timer | undefined;
  /** Due, but of agents that are not served here: left alone, and looked past. */
  #foreign: ReadonlySet<TaskId> = new Set();
  #isFirst = true;
  #stopped = false;
  #unsubscribe: (() => void) | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

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
    this.#current = this.#go();
    await this.#current;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#renewal?.cancel();
    this.#round?.cancel();
    this.#unsubscribe?.();
    await this.#current;
    const { store, node } = this.#options.parts;
    await store.leave(node).catch((error: unknown) => this.#warn("The node could not give up its leases", error));
  }

  async #go(): Promise<void> {
    const { parts, clock } = this.#options;
    const { store, feeds, runs } = parts;
    let pause = ROUND_MS;
    try {
      const began = clock.now();
      const hasMore = await this.#claimDue();
      await Promise.all([feeds.refresh(), runs.checkInboxes()]);
      const wake = await store.nextWake();
      // What was due before and still is could not be taken up; it is no reason to hurry.
      if (wake !== undefined && wake > began) pause = Math.min(ROUND_MS, Math.max(1, wake - clock.now()));
      if (this.#options.recovery.size > 0) pause = Math.min(pause, GROUP_POLL_MS);
      if (hasMore) pause = 1;
    } catch (error) {
      if (!this.#stopped) this.#warn("A look round for waiting tasks failed; it is tried again", error);
    }
    if (this.#stopped) return;
    this.#round = clock.setTimer(
      clock.now() + pause,
      () => {
        this.#current = this.#go();
      },
      { unref: true },
    );
  }

  /** True if more tasks can be started at once. */
  async #claimDue(): Promise<boolean> {
    const { recovery, claimTask } = this.#options;
    const due = recovery.isStarting ? NOTHING_DUE : await this.#findDue();
    if (recovery.hasSolo) {
      if (due.ready.length > 0 || recovery.isReady) void recovery.waitForSolo();
      return false;
    }
    const starts = recovery.next(DUE_AT_A_TIME);
    // A task that is started alone stays alone for now; the others are found again.
    const others = recovery.hasSolo ? [] : due.ready;
    const results = await Promise.all([
      ...starts.map(({ id, crash }) => claimTask(id, crash).finally(() => recovery.started(id))),
      ...others.map((id) => claimTask(id)),
    ]);
    return recovery.isStarting || (due.isFull && results.includes("claimed"));
  }

  /** Hands crashed tasks over to the recovery. What is `ready` was not at work: its time has come, or something arrived for it. */
  async #findDue(): Promise<Due> {
    const { parts, recovery } = this.#options;
    const { store, agents, runs } = parts;
    const limit = (this.#isFirst ? CRASHED_AT_A_TIME : DUE_AT_A_TIME) + this.#foreign.size + recovery.size;
    const due = await store.due(limit);
    this.#isFirst = false;
    const foreign = new Set<TaskId>(due.filter((id) => this.#foreign.has(id)));
    const ready: TaskId[] = [];
    const crashed: CrashedTask[] = [];
    const look = async (id: TaskId): Promise<void> => {
      if (foreign.has(id) || runs.has(id) || recovery.has(id)) return;
      const record = await store.get(id, { artifacts: false, history: 0 });
      if (record === undefined) return;
      const { head, node, scope } = record;
      const runner = readRunner(head.runner);
      if (!agents.has(scope.agent)) foreign.add(id);
      else if (!head.active || runner.released === true || node === parts.node) ready.push(id);
      else {
        // What it did since its last start matters only if that start followed a crash, too.
        const progressed = runner.idleCrashes !== undefined && hasProgressed(record, await store.steps(id));
        crashed.push({ id, agent: scope.agent, runner, node, progressed });
      }
    };
    await Promise.all(due.map(look));
    this.#foreign = foreign;
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
      this.#warn("The lease on the store could not be renewed", error);
      // Others may take over once the lease has run out: half of it before, nothing is written here any more.
      if (!this.isHealthy) this.#options.parts.runs.loseAll({ kind: "lease-lost" });
    }
    this.#armRenewal();
  }

  async #renew(): Promise<void> {
    const { parts, leaseMs, clock } = this.#options;
    const asked = performance.now();
    const { now } = await parts.store.heartbeat(parts.node, leaseMs);
    const hadLapsed = this.#renewedUntil !== undefined && now >= this.#renewedUntil;
    // The first answer sets the clock. A later jump is of the store's clock alone: leases follow it, deadlines and sleeps do not.
    if (this.#renewedUntil === undefined) clock.adjust(now);
    else slewTowards(clock, now, asked - this.#renewedAt);
    this.#renewedAt = asked;
    this.#renewedUntil = now + leaseMs;
    if (hadLapsed) await parts.runs.verifyLeases();
  }

  #safely(what: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#warn(`A hint could not be followed (${what})`, error));
  }

  #warn(message: string, error: unknown): void {
    this.#options.parts.environment.logger.warn(message, { error });
  }
}
