import type { Clock } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { Runs } from "../run/runs.ts";
import { type CrashedTask, type Group, type GroupMember, planGroups } from "./crash-groups.ts";

/** Milliseconds that a group of suspects must run without a crash before the next group starts; times 1.5 for each further crash. */
const SURVIVAL_MS = 2000;
const SURVIVAL_GROWTH = 1.5;
const MAX_SURVIVAL_MS = 10 * 60_000;
/** Milliseconds that new messages wait at most while a single suspect runs alone. */
const MAX_SOLO_MS = 10_000;
/** Milliseconds between two checks whether that suspect made progress. */
const CHECK_MS = 100;

/** How a task is started after a crash. */
export interface CrashStart {
  /** Number of the task's group; later groups have higher numbers. */
  readonly round: number;
  /** No other task runs on this node. */
  readonly alone: boolean;
  /** No other task was running on the node that died. */
  readonly wasOnly: boolean;
}

export interface Start {
  readonly id: TaskId;
  /** The epoch of the lease that this node has claimed. */
  readonly epoch: number;
  readonly crash: CrashStart;
}

interface Current {
  readonly members: Group;
  readonly round: number;
  /** How many members were handed out. */
  started: number;
  /** When the group counts as survived, even if some members have neither made progress nor ended. */
  until: number;
}

/** A suspect that runs while nothing else runs on the node. */
interface Solo {
  readonly id: TaskId;
  readonly started: Deferred<void>;
  /** New messages wait until this time at most. */
  readonly until: number;
}

/**
 * Decides which crashed tasks are started next, group by group, to find a task that crashes the process: after the first crash all tasks are
 * started together, after further crashes in groups that shrink to one task. The group number is part of each task's runner record, so the
 * next process continues the search.
 */
export class Recovery {
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #queue: Group[] = [];
  readonly #waiting = new Set<TaskId>();
  #round = 0;
  #current: Current | undefined;
  #solo: Solo | undefined;
  #room: Promise<void> | undefined;

  constructor(runs: Runs, clock: Clock) {
    this.#runs = runs;
    this.#clock = clock;
  }

  /** How many tasks wait for their start. */
  get size(): number {
    return this.#waiting.size;
  }

  has(id: TaskId): boolean {
    return this.#waiting.has(id);
  }

  /** Members of the current group are still to be started. */
  get isStarting(): boolean {
    return this.#current !== undefined && this.#current.started < this.#current.members.length;
  }

  /** The next group can be started. */
  get isReady(): boolean {
    return this.#queue.length > 0 && !this.isStarting && this.#hasSurvived();
  }

  add(crashed: readonly CrashedTask[]): void {
    for (const { id, runner } of crashed) {
      this.#waiting.add(id);
      this.#round = Math.max(this.#round, runner.round ?? 0);
    }
    this.#queue.push(...planGroups(crashed));
  }

  /** The next tasks to start, at most `limit`; none while the current group has to survive. */
  next(limit: number): readonly Start[] {
    if (!this.isStarting && this.#hasSurvived()) this.#nextGroup();
    const current = this.#current;
    if (current === undefined) return [];
    const members = current.members.slice(current.started, current.started + limit);
    current.started += members.length;
    const alone = current.members.length === 1 && members.length === 1 && this.#runs.size === 0;
    if (alone) this.#beginSolo(members, current.until);
    for (const { id } of members) this.#waiting.delete(id);
    return members.map(({ id, epoch, wasOnly }) => ({ id, epoch, crash: { round: current.round, alone, wasOnly } }));
  }

  /** Call this when a task from `next` was started, or turned out not to need a start. */
  started(id: TaskId): void {
    if (this.#solo?.id === id) this.#solo.started.resolve();
  }

  /** A suspect runs alone and has not survived yet: before anything else starts, await `waitForSolo`. */
  get hasSolo(): boolean {
    return this.#solo !== undefined;
  }

  /** Resolves when other tasks may start: the suspect survived, or its record says that it no longer runs alone. */
  waitForSolo(): Promise<void> {
    this.#room ??= this.#endSolo().finally(() => {
      this.#room = undefined;
    });
    return this.#room;
  }

  #nextGroup(): void {
    const members = this.#queue.shift();
    this.#current = undefined;
    if (members === undefined) return;
    this.#round += 1;
    const idle = Math.max(...members.map(({ idleCrashes }) => idleCrashes));
    const survival = idle < 2 ? 0 : Math.min(SURVIVAL_MS * SURVIVAL_GROWTH ** (idle - 2), MAX_SURVIVAL_MS);
    this.#current = { members, round: this.#round, started: 0, until: this.#clock.now() + survival };
  }

  #hasSurvived(): boolean {
    const current = this.#current;
    if (current === undefined || this.#clock.now() >= current.until) return true;
    return current.members.every(({ id }) => this.#isSettled(id));
  }

  /** The task made progress, waits, or does not run on this node. */
  #isSettled(id: TaskId): boolean {
    const writer = this.#runs.writer(id);
    return writer === undefined || writer.progressed || !writer.active;
  }

  #beginSolo([member]: readonly GroupMember[], survives: number): void {
    if (member === undefined) return;
    const until = Math.min(survives, this.#clock.now() + MAX_SOLO_MS);
    this.#solo = { id: member.id, started: createDeferred<void>(), until };
  }

  async #endSolo(): Promise<void> {
    const solo = this.#solo;
    if (solo === undefined) return;
    await solo.started.promise;
    while (!this.#isSettled(solo.id) && this.#clock.now() < solo.until) await this.#pause(solo.until);
    const writer = this.#runs.writer(solo.id);
    try {
      if (writer !== undefined && !this.#isSettled(solo.id)) {
        writer.updateHead({ runner: { alone: false } });
        await writer.flush();
      }
    } catch (error) {
      // The task ended, or its lease was lost: it does not run alone any more.
      if (!(error instanceof TaskAborted)) throw error;
    } finally {
      this.#solo = undefined;
    }
  }

  #pause(until: number): Promise<void> {
    const at = Math.min(this.#clock.now() + CHECK_MS, until);
    return new Promise((resolve) => {
      this.#clock.setTimer(at, resolve, { unref: true });
    });
  }
}
