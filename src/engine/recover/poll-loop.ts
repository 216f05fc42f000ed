import type { Hint } from "../../bus/contract.ts";
import { type AdjustableClock, slewTowards, type Timer } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ClaimedTask, DueTask, DueTasks, WaitingEntry } from "../../store/contract.ts";
import type { EngineParts } from "../parts.ts";
import type { NodeLease } from "../record/node-lease.ts";
import { type RunnerRecord, readRunner } from "../record/runner-record.ts";
import { hasProgressed } from "../run/turn.ts";
import type { Claimer } from "./claimer.ts";
import type { CrashedTask } from "./crash-groups.ts";
import type { Recovery } from "./recovery.ts";

/** How often the lease is renewed while it lasts. */
const RENEWALS_PER_LEASE = 5;
/** Heartbeats at the start, at most: the first ones wait for connections, and say too little about the store's time. */
const FIRST_HEARTBEATS = 5;
/** Milliseconds that these heartbeats take together. After them the node starts, however slow the store is. */
const FIRST_HEARTBEATS_MS = 500;
/** Milliseconds of a heartbeat that is fast enough to set the clock by it. */
const EXACT_ENOUGH = 2;
/** Milliseconds between polls. */
const POLL_MS = 1000;
/** Tasks that one poll claims at most. */
const DUE_PER_POLL = 100;
/** About how many bytes of events one call reads for the tasks that are started. */
const BYTES_PER_READ = 4 * 1024 * 1024;
/** Tasks that the first poll reads at most: all tasks of a crashed process must be divided into groups together. */
const CRASHED_PER_POLL = 10_000;
/** Milliseconds after which the claims in the store are compared with those this node knows, for no particular reason: no task may be forgotten. */
const RECONCILE_MS = 60_000;
/** Milliseconds between polls while crashed tasks wait for the group before theirs. */
const GROUP_POLL_MS = 100;
/** Milliseconds between polls while tasks of another node are taken over: each poll takes a share. */
const TAKE_OVER_POLL_MS = 25;

export interface PollLoopOptions {
  readonly parts: EngineParts;
  readonly clock: AdjustableClock;
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
  /** Store time at which the lease ends. The store's clock goes on while this process is suspended. */
  #renewedUntil: number | undefined;
  /** The lease had ended for a while: other nodes may have claimed tasks of this one. */
  #mustVerify = false;
  #renewal: Timer | undefined;
  /** Half of the lease has passed without a renewal. */
  #lapse: Timer | undefined;
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
  #reconciledAt = 0;
  /** When the lease of another node ends that holds tasks, unless it renews it. */
  #nextLapse: number | undefined;
  /** The last claim found tasks that another node was running. There may be more: each node first takes its share. */
  #isTakingOver = false;
  /** Other nodes were living at the last claim. */
  hasOthers = false;
  /** The messages for tasks of this node, if the present poll has read them. */
  #waiting: readonly WaitingEntry[] | undefined;
  #polledAt = Number.POSITIVE_INFINITY;
  #isPolling = false;
  /** A poll was asked for while one was under way. */
  #pollsAgain = false;
  #isFirst = true;
  #stopped = false;
  #unsubscribe: (() => void) | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  /** Milliseconds since a poll last ended, whether it succeeded or failed. */
  get idleFor(): number {
    return this.#options.clock.now() - this.#polledAt;
  }

  async start(): Promise<void> {
    const { bus, node } = this.#options.parts;
    await this.#setClock();
    this.#polledAt = this.#options.clock.now();
    this.#unsubscribe = bus.subscribe({
      node,
      onHints: (hints) => this.#onHints(hints),
      onReconnect: () => this.#safely("reconnect", this.#refresh()),
    });
    this.#armRenewal();
    this.#current = this.#poll();
    await this.#current;
  }

  /** The first heartbeats. More than one, if a slow answer said too little of the store's time. */
  async #setClock(): Promise<void> {
    let [tries, spent] = [0, 0];
    do {
      const took = await this.#renew();
      if (took <= EXACT_ENOUGH) return;
      tries += 1;
      spent += took;
    } while (tries < FIRST_HEARTBEATS && spent < FIRST_HEARTBEATS_MS);
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#renewal?.cancel();
    this.#lapse?.cancel();
    this.#nextPoll?.cancel();
    this.#unsubscribe?.();
    await this.#current;
    const { store, node, bus } = this.#options.parts;
    await store
      .leave(node)
      .then(() => bus.publish([{ kind: "due" }]))
      .catch((error: unknown) =>
        this.#warn("The node could not release its leases; other nodes wait until they expire.", error),
      );
  }

  /** The answer to a commit was lost, or runs were: the store may give this node leases that it does not know of. */
  answerLost(): void {
    const { clock } = this.#options;
    this.#reconcileUntil = clock.now() + 2 * this.#lease.duration;
  }

  #onHints(hints: readonly Hint[]): void {
    const { feeds, runs, node } = this.#options.parts;
    let behind: TaskId[] | undefined;
    for (const hint of hints) {
      if (hint.kind === "log") {
        if (!feeds.isBehind(hint.task, hint.seq)) continue;
        behind ??= [];
        behind.push(hint.task);
      } else if (hint.kind === "due") {
        // A node that shuts down claims nothing.
        if (this.#options.isOpen()) this.#pollNow();
      } else if (hint.node === node) this.#safely("inbox", runs.checkInbox(hint.task));
    }
    if (behind !== undefined) this.#safely("follow", feeds.follow(behind));
  }

  /** Polls at once; if a poll is under way, again after it. */
  #pollNow(): void {
    if (this.#stopped) return;
    if (this.#isPolling) this.#pollsAgain = true;
    else {
      this.#nextPoll?.cancel();
      this.#current = this.#poll();
    }
  }

  async #poll(): Promise<void> {
    const { clock, recovery } = this.#options;
    const began = clock.now();
    let pause = POLL_MS;
    this.#isPolling = true;
    this.#pollsAgain = false;
    try {
      const hasMore = await this.#startDue();
      await this.#refresh(this.#waiting);
      const isDoubtful = began < this.#reconcileUntil || began >= this.#reconciledAt + RECONCILE_MS;
      if (isDoubtful && this.#lease.isFresh) await this.#reconcile();
      // Overdue tasks that could not be claimed must not shorten the pause.
      for (const at of [this.#nextWake, this.#nextLapse])
        if (at !== undefined && at > began) pause = Math.min(pause, at - began);
      if (recovery.size > 0 || this.#ready.length > 0) pause = Math.min(pause, GROUP_POLL_MS);
      if (this.#isTakingOver) pause = Math.min(pause, TAKE_OVER_POLL_MS);
      if (hasMore || this.#pollsAgain) pause = 0;
    } catch (error) {
      if (!this.#stopped) this.#warn("Polling the store failed; the next poll is in 1 s.", error);
      pause += clock.now() - began;
    }
    this.#isPolling = false;
    this.#polledAt = clock.now();
    if (this.#stopped) return;
    this.#nextPoll = clock.setTimer(
      // A slow poll does not delay the next one, but does not follow another one without a pause either.
      Math.max(began + pause, clock.now() + 1),
      () => {
        this.#current = this.#poll();
      },
      { unref: true },
    );
  }

  /**
   * Reads what other nodes have written, because hints may have been lost: events of followed tasks, and messages for tasks of this node.
   * `waiting`: these messages, if they are known.
   */
  async #refresh(waiting?: readonly WaitingEntry[]): Promise<void> {
    const { parts, claimer } = this.#options;
    const [, idle] = await Promise.all([parts.feeds.refresh(), parts.runs.checkInboxes(waiting)]);
    for (const id of idle) if (!this.#isClaimed(id)) claimer.onReleased(id);
  }

  /** Continues the tasks that the store says this node holds, and that this process does not know of. */
  async #reconcile(): Promise<void> {
    const { parts, claimer, recovery } = this.#options;
    this.#reconciledAt = this.#options.clock.now();
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
    this.#waiting = undefined;
    // Without a fresh lease, other nodes may claim the tasks at any moment.
    if (!this.#options.isOpen() || !this.#lease.isFresh) return false;
    if (!recovery.isStarting) await this.#claimDue();
    if (recovery.hasSolo) {
      if (this.#ready.length > 0 || recovery.isReady) void recovery.waitForSolo();
      return false;
    }
    const starts = recovery.next(DUE_PER_POLL);
    // While a suspect runs alone nothing else starts.
    const others = recovery.hasSolo ? [] : this.#ready.splice(0);
    if (starts.length + others.length === 0) return recovery.isStarting;
    const read = await this.#readClaimed([...starts, ...others].map(({ id }) => id));
    const results = await Promise.all([
      ...starts.map(({ id, epoch, crash }) =>
        claimer.start({ id, epoch }, { crash, read: read.get(id) }).finally(() => recovery.started(id)),
      ),
      ...others.map((task) => claimer.start(task, { read: read.get(task.id) })),
    ]);
    // The hint of a message that arrived between the read and the start had no effect.
    if (read.size > 0) this.#waiting = undefined;
    return recovery.isStarting || (this.#isMoreDue && results.includes("claimed"));
  }

  /** What the store has of claimed tasks, in one call if it can do that. What is missing in the result is read for each task. */
  async #readClaimed(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, ClaimedTask>> {
    const { store } = this.#options.parts;
    const maxBytes = Math.floor(BYTES_PER_READ / ids.length);
    const read = (await store.claimed?.(ids, maxBytes).catch(() => [])) ?? [];
    return new Map(read.map((task) => [task.record.id, task]));
  }

  /** Claims due tasks. Tasks whose process died go to the recovery; tasks whose wake time has come or whose inbox is not empty wait to be started. */
  async #claimDue(): Promise<void> {
    const { runs, environment } = this.#options.parts;
    const most = this.#isFirst ? CRASHED_PER_POLL : DUE_PER_POLL;
    // Other nodes, or this one later, continue what does not fit into this process.
    const room = environment.limits.maxLiveTasks - runs.size - this.#options.recovery.size;
    const limit = Math.min(most, room) - this.#unsorted.length - this.#ready.length;
    const due = await this.#claimFromStore(limit);
    this.#isFirst = false;
    this.#isMoreDue = due.tasks.length >= limit;
    this.#nextWake = due.nextWake;
    this.#nextLapse = due.nextLapse;
    this.#waiting = due.waiting;
    this.#isTakingOver = due.tasks.some(({ formerNode, head }) => formerNode !== undefined || head.active);
    this.hasOthers = (due.others ?? 0) > 0;
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

  get #lease(): NodeLease {
    return this.#options.parts.environment.lease;
  }

  #armRenewal(): void {
    const { clock } = this.#options;
    if (this.#stopped) return;
    const at = clock.now() + this.#lease.duration / RENEWALS_PER_LEASE;
    this.#renewal = clock.setTimer(at, () => void this.#renewAgain(), { unref: true });
  }

  /** When the lease ends, other nodes may claim the tasks. Runs stop at half of it, even if a renewal is still under way. */
  #armLapse(): void {
    const { clock } = this.#options;
    this.#lapse?.cancel();
    if (this.#stopped) return;
    const left = this.#lease.duration / 2 - this.#lease.age;
    this.#lapse = clock.setTimer(clock.now() + Math.max(0, left), () => this.#loseRuns(), { unref: true });
  }

  #loseRuns(): void {
    const { parts } = this.#options;
    if (this.#lease.isFresh) {
      this.#armLapse();
      return;
    }
    if (parts.runs.size > 0)
      parts.environment.logger.warn("The lease was not renewed for half of its duration: running tasks are stopped.", {
        tasks: parts.runs.size,
      });
    parts.runs.loseAll({ kind: "lease-lost" });
    this.answerLost();
  }

  async #renewAgain(): Promise<void> {
    try {
      await this.#renew();
    } catch (error) {
      this.#warn("The lease could not be renewed; trying again.", error);
    }
    this.#armRenewal();
  }

  /** Resolves with the milliseconds that the store took to answer. */
  async #renew(): Promise<number> {
    const { parts, clock } = this.#options;
    const lease = this.#lease;
    const asked = clock.now();
    const age = lease.age;
    const { now } = await parts.store.heartbeat(parts.node, lease.duration);
    const took = clock.now() - asked;
    const hadLapsed = this.#renewedUntil !== undefined && now >= this.#renewedUntil;
    // The store has read its clock at an unknown moment of the call.
    // The heartbeats of the start set the clock. Later jumps of the store's clock move leases, but not deadlines and sleeps.
    const isStarting = this.#renewal === undefined;
    if (this.#renewedUntil === undefined) clock.adjust(now + took / 2);
    else slewTowards(clock, { earliest: now, latest: now + took }, isStarting ? Number.POSITIVE_INFINITY : age);
    this.#renewedUntil = now + lease.duration;
    const answeredAt = clock.now();
    this.#mustVerify ||= hadLapsed;
    if (this.#mustVerify) await parts.runs.verifyLeases();
    this.#mustVerify = false;
    lease.renewed(answeredAt - took);
    this.#armLapse();
    return took;
  }

  #safely(what: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#warn(`Work after a hint failed (${what}); the next poll repeats it.`, error));
  }

  #warn(message: string, error: unknown): void {
    this.#options.parts.environment.logger.warn(message, { error });
  }
}
