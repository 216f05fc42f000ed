import type { Clock } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { Runs } from "../run/runs.ts";
import { type CrashedTask, type Group, type GroupMember, planGroups } from "./crash-groups.ts";

/** Milliseconds that a group of suspects must survive before the next group starts; half as much again with each further crash. */
const SURVIVAL_MS = 2000;
const SURVIVAL_GROWTH = 1.5;
const MAX_SURVIVAL_MS = 10 * 60_000;
/** Milliseconds that sends wait, at most, while a single suspect is started. */
const MAX_HOLD_MS = 10_000;
const CHECK_MS = 100;

/** How a task is started after a crash. */
export interface CrashStart {
  /** The id of its agent. */
  readonly agent: string;
  /** The number of its group; later groups have higher ones. */
  readonly round: number;
  /** Nothing else is at work on this node. */
  readonly alone: boolean;
  /** No other task was at work on the node that died. */
  readonly wasOnly: boolean;
}

export interface Start {
  readonly id: TaskId;
  readonly crash: CrashStart;
}

interface Current {
  readonly members: Group;
  readonly round: number;
  /** How many of them were handed out. */
  started: number;
  /** When those that have neither progressed nor ended count as having survived. */
  until: number;
}

interface Solo {
  readonly id: TaskId;
  readonly begun: Deferred<void>;
  /** Sends wait until then. */
  readonly until: number;
}

/**
 * Starts tasks again after a crash, group by group, so that a task that brings the process down is found without cost to the others: after
 * a first crash all at once, after further ones in groups that shrink to one task. Which task was started with which others is in
 * their records, so the next process knows.
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

  /** Tasks that wait for their start. */
  get size(): number {
    return this.#waiting.size;
  }

  has(id: TaskId): boolean {
    return this.#waiting.has(id);
  }

  /** A part of the present group is still to be started. */
  get isStarting(): boolean {
    return this.#current !== undefined && this.#current.started < this.#current.members.length;
  }

  /** The next group may be started. */
  get isReady(): boolean {
    return this.#queue.length > 0 && !this.isStarting && this.#isOver();
  }

  add(crashed: readonly CrashedTask[]): void {
    for (const { id, runner } of crashed) {
      this.#waiting.add(id);
      this.#round = Math.max(this.#round, runner.round ?? 0);
    }
    this.#queue.push(...planGroups(crashed));
  }

  /** The next tasks to be started, at most so many; none while the present group has to survive. */
  next(limit: number): readonly Start[] {
    if (!this.isStarting && this.#isOver()) this.#nextGroup();
    const current = this.#current;
    if (current === undefined) return [];
    const members = current.members.slice(current.started, current.started + limit);
    current.started += members.length;
    const alone = current.members.length === 1 && members.length === 1 && this.#runs.size === 0;
    if (alone) this.#beginSolo(members, current.until);
    for (const { id } of members) this.#waiting.delete(id);
    return members.map(({ id, agent, wasOnly }) => ({ id, crash: { agent, round: current.round, alone, wasOnly } }));
  }

  /** A task that was handed out is at work now, or is not to be. */
  begun(id: TaskId): void {
    if (this.#solo?.id === id) this.#solo.begun.resolve();
  }

  /** A task is at work alone, and nothing is known of how it does: whatever else is to be started must wait for `makeRoom`. */
  get isAlone(): boolean {
    return this.#solo !== undefined;
  }

  /** Resolves when other tasks may be started: it is in the store that the task is no longer alone. */
  makeRoom(): Promise<void> {
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

  #isOver(): boolean {
    const current = this.#current;
    if (current === undefined || this.#clock.now() >= current.until) return true;
    return current.members.every(({ id }) => this.#isSettled(id));
  }

  /** The task made progress, waits, or is not at work here. */
  #isSettled(id: TaskId): boolean {
    const writer = this.#runs.writer(id);
    return writer === undefined || writer.progressed || !writer.active;
  }

  #beginSolo([member]: readonly GroupMember[], survives: number): void {
    if (member === undefined) return;
    const until = Math.min(survives, this.#clock.now() + MAX_HOLD_MS);
    this.#solo = { id: member.id, begun: createDeferred<void>(), until };
  }

  async #endSolo(): Promise<void> {
    const solo = this.#solo;
    if (solo === undefined) return;
    await solo.begun.promise;
    while (!this.#isSettled(solo.id) && this.#clock.now() < solo.until) await this.#pause(solo.until);
    const writer = this.#runs.writer(solo.id);
    try {
      if (writer !== undefined && !this.#isSettled(solo.id)) {
        writer.updateHead({ runner: { alone: false } });
        await writer.flush();
      }
    } catch (error) {
      // It has ended, or its lease is lost: then it is not alone either.
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
