import type { Bus, Hint } from "../../bus/contract.ts";
import { callHook } from "../../internal/call-hook.ts";
import { ChurnMap } from "../../internal/churn-map.ts";
import { createDeferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { TerminalState } from "../../protocol/state.ts";
import { type InboxEntry, type Store, StoreError, type WaitingEntry } from "../../store/contract.ts";
import { type AbortCause, type Agent, TaskAborted } from "../agent/agent.ts";
import type { TaskRef } from "../api.ts";
import type { Committer } from "../log/committer.ts";
import { ENGINE_NOTE } from "../log/note.ts";
import { TaskLogWriter } from "../log/task-log-writer.ts";
import type { WriterDependencies, WriterLoss, WriterStart } from "../log/writer-contract.ts";
import type { Feed } from "../read/feed.ts";
import type { Feeds } from "../read/feeds.ts";
import type { LogView } from "../read/log-view.ts";
import { publicRef } from "../read/public-ref.ts";
import { firstTimeOut } from "../record/runner-record.ts";
import { Run, type RunHost } from "./run.ts";
import type { AttemptStart, RunEnvironment } from "./run-environment.ts";
import { Slots } from "./slots.ts";
import { prepareNextTurn } from "./turn.ts";

export interface RunsOptions {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly node: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly environment: RunEnvironment;
  /** A task was released or lost. Something may be waiting for it, so it may have to be claimed again now. */
  readonly onReleased: (id: TaskId) => void;
}

const NOTHING = (): void => {};

/** Milliseconds after which a node that shuts down hands running tasks over, and between two looks at those in a step. */
const HAND_OVER_AFTER = 100;
const HAND_OVER_CHECK = 25;

interface Live {
  readonly run: Run;
  readonly feed: Feed;
  leaveQueue: () => void;
  freeSlot: () => void;
}

/** The tasks whose lease this process has: running, waiting in their run, or queued for a slot. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #writerDependencies: WriterDependencies;
  readonly #runHost: RunHost;
  readonly #live = new ChurnMap<TaskId, Live>();
  /** By owner: the number of these tasks. */
  readonly #owners = new Map<string, number>();
  readonly #slots: ReadonlyMap<string, Slots>;
  /** Runs that have lost their task but have not returned. They keep their slots until they return. */
  readonly #orphans = new Set<Run>();
  #whenEmpty: (() => void) | undefined;
  /** Events of the commit whose outcomes are being handed out. */
  #hints: Hint[] = [];

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#slots = new Map(Array.from(options.agents, ([id, agent]) => [id, new Slots(agent)]));
    const { committer, environment } = options;
    const { clock, limits, hooks } = environment;
    this.#writerDependencies = {
      committer,
      clock,
      limits,
      hooks,
      onCommitted: (task, views) => this.#committed(task, views),
    };
    this.#runHost = {
      environment,
      storage: {
        store: options.store,
        write: (operation) => committer.submit(operation),
        maxBytes: limits.maxContextBytes,
      },
      nextTurn: (run) => prepareNextTurn(run, options.store),
      onPark: (run) => void this.release(run, "parked"),
      onOverdue: (run) => void this.#endWithoutRun(run),
      onLost: (run, loss) => this.#lost(run, loss),
    };
  }

  get size(): number {
    return this.#live.size;
  }

  has(id: TaskId): boolean {
    return this.#live.has(id);
  }

  writer(id: TaskId): TaskLogWriter | undefined {
    return this.#live.get(id)?.run.writer;
  }

  hasRoom(agent: Agent): boolean {
    return (
      this.#slots.get(agent.id)?.hasRoom === true && this.#live.size < this.#options.environment.limits.maxLiveTasks
    );
  }

  /** How many tasks of this owner the process has. */
  countOf(owner: string): number {
    return this.#owners.get(owner) ?? 0;
  }

  counts(): { readonly running: number; readonly queued: number; readonly orphans: number } {
    let running = 0;
    let queued = 0;
    for (const slots of this.#slots.values()) {
      running += slots.running;
      queued += slots.queued;
    }
    return { running, queued, orphans: this.#orphans.size };
  }

  /** Creates the writer and the run of a task. The caller must hold the feed; it is released when the task ends or is released. */
  open(agent: Agent, feed: Feed, start: WriterStart): Run {
    const run = new Run(agent, new TaskLogWriter(start, feed, this.#writerDependencies), this.#runHost);
    this.#live.set(start.ref.id, { run, feed, leaveQueue: NOTHING, freeSlot: NOTHING });
    this.#count(run, 1);
    return run;
  }

  /** Starts the run once a slot is free and `ready` resolves. If `ready` rejects, the run is not started. */
  begin(run: Run, start: AttemptStart, ready?: Promise<void>): void {
    const live = this.#live.get(run.writer.ref.id);
    const slots = this.#slots.get(run.agent.id);
    if (live === undefined || slots === undefined) return;
    // The caller's limit applies while the task is queued, too.
    if (run.writer.isStored) run.watchLimit();
    live.leaveQueue = slots.enter(() => {
      let isHeld = true;
      live.freeSlot = () => {
        if (isHeld) slots.leave();
        isHeld = false;
      };
      const execution =
        ready === undefined
          ? run.execute(start)
          : ready.then(
              () => run.execute(start),
              () => {},
            );
      void execution.then(() => {
        live.freeSlot();
        this.#orphans.delete(run);
        if (run.writer.ended) this.#forget(run);
      });
    });
  }

  /** Ends a task without its run. */
  async end(run: Run, state: TerminalState, parts?: readonly Part[]): Promise<void> {
    if (run.writer.runner.children !== undefined) await run.endChildren();
    run.observer.attemptEnded(state);
    try {
      await run.writer.end(state, { ...(parts !== undefined && { parts }), unlessInbox: false, note: ENGINE_NOTE });
    } catch (error) {
      if (!(error instanceof TaskAborted)) await run.failAsLastResort(error);
    }
    run.observer.spanEnded();
    this.#forget(run);
  }

  /** An entry was stored in a task's inbox. `node`: the node that has the lease, if any. */
  deliver(id: TaskId, entry: InboxEntry, node: string | undefined): void {
    const { bus, onReleased } = this.#options;
    const live = this.#live.get(id);
    if (live !== undefined) live.run.writer.deliver(entry);
    else if (node === undefined || node === this.#options.node) onReleased(id);
    else bus.publish([{ kind: "inbox", task: id, node }]);
  }

  /** Reads the inbox of a task of this process, after another node reported a new entry. */
  async checkInbox(id: TaskId): Promise<void> {
    const live = this.#live.get(id);
    if (live === undefined) return;
    for (const entry of await this.#options.store.inbox(id)) live.run.writer.deliver(entry);
  }

  /**
   * Finds the messages that other nodes have stored for tasks of this process, because a hint may have been lost. Returns the tasks with a
   * message whose lease this process holds without a run. `waiting`: these messages, if they were just read.
   */
  async checkInboxes(waiting?: readonly WaitingEntry[]): Promise<readonly TaskId[]> {
    const { store, node } = this.#options;
    const unread = new Set<TaskId>();
    const idle = new Set<TaskId>();
    for (const { task, id } of waiting ?? (await store.waitingEntries(node))) {
      const live = this.#live.get(task);
      if (live === undefined) idle.add(task);
      else if (!live.run.writer.hasReceived(id)) unread.add(task);
    }
    await Promise.all(Array.from(unread, (task) => this.checkInbox(task)));
    return [...idle];
  }

  /** The lease of this node had expired for a while: drops the tasks that another node has claimed or ended meanwhile. */
  async verifyLeases(): Promise<void> {
    const { store, node } = this.#options;
    // Only tasks that were stored before the read can be missing in its result because they are lost.
    const stored = Array.from(this.#live.values(), ({ run }) => run).filter(({ writer }) => writer.isStored);
    const held = new Set((await store.claimsOf(node)).tasks.map(({ id }) => id));
    for (const { writer } of stored) if (!held.has(writer.ref.id) && !writer.ended) writer.lose({ kind: "lease-lost" });
  }

  /** Releases the lease of a task, so that this or another node continues it later. */
  async release(run: Run, cause: "parked" | "shutdown"): Promise<void> {
    const { writer } = run;
    const id = writer.ref.id;
    const live = this.#live.get(id);
    if (live?.run !== run || writer.ended || writer.loss !== undefined) return;
    this.#detach(
      run,
      cause,
      cause === "parked" ? "The run is parked until something arrives for it." : "The server is shutting down.",
    );
    try {
      if (cause === "shutdown") writer.updateHead({ runner: { released: true } });
      else if (writer.wakeAt === undefined && writer.runner.pausedAt === undefined)
        writer.updateHead({ active: false, wakeAt: firstTimeOut(writer.runner) });
      // No node is running the task from now on, even if one of its waits needed this process.
      else writer.updateHead({ active: false });
      run.observer.attemptEnded(cause === "parked" ? "parked" : "released");
      await writer.release();
      run.observer.spanEnded();
    } catch (error) {
      if (!(error instanceof TaskAborted)) throw error;
    }
    this.#forget(run);
    // Messages that arrived during the release must not wait for the next poll.
    if (writer.inbox.length > 0) this.#options.onReleased(id);
  }

  /**
   * Shutdown: waits up to `timeout` milliseconds for running tasks to end, then releases the rest. Tasks that only wait are released at once.
   * `handsOver`: other nodes are living. Tasks that do not end soon are released to them, see {@link Runs.#handOver}.
   */
  async drain(timeout: number, handsOver = false): Promise<void> {
    const { clock } = this.#options.environment;
    const until = clock.now() + timeout;
    const idle = this.#live.values().filter(({ run }) => run.writer.runner.pausedAt !== undefined || !run.isRunning);
    await this.#shutDownAll(idle);
    if (handsOver) await this.#handOver(until);
    if (this.#live.size > 0) await this.#whenEmptyOr(until);
    await this.#shutDownAll(this.#live.values());
  }

  /**
   * Releases running tasks to other nodes: after a tenth of a second, in which short runs end, and each one when none of its steps is running, because
   * another node would repeat the step. Tasks that would fail without their run stay until it ends. Then waits for callers of this process who wait
   * for a released task: they get its events and its result from the other node.
   */
  async #handOver(until: number): Promise<void> {
    const { environment, feeds } = this.#options;
    const { clock } = environment;
    const released: Feed[] = [];
    const isAwaited = (): boolean => released.some((feed) => feeds.peek(feed.task.id) === feed && !feed.ended);
    await this.#whenEmptyOr(Math.min(until, clock.now() + HAND_OVER_AFTER));
    while ((this.#live.size > 0 || isAwaited()) && clock.now() < until) {
      const free = this.#live
        .values()
        .filter(({ run }) => run.agent.onRestart !== "fail" && !run.isInStep && !run.writer.ended);
      released.push(...free.map(({ feed }) => feed));
      await this.#shutDownAll(free);
      const next = Math.min(until, clock.now() + HAND_OVER_CHECK);
      await new Promise<void>((resolve) => clock.setTimer(next, resolve));
    }
  }

  async #shutDownAll(some: readonly Live[]): Promise<void> {
    if (some.length === 0) return;
    await Promise.all(some.map(({ run }) => this.#shutDown(run)));
    this.#options.bus.publish([{ kind: "due" }]);
  }

  /** Resolves when no task is left, or at this time. */
  async #whenEmptyOr(until: number): Promise<void> {
    if (this.#live.size === 0) return;
    const { clock } = this.#options.environment;
    const done = createDeferred<void>();
    const timer = clock.setTimer(until, () => done.resolve());
    this.#whenEmpty = () => done.resolve();
    await done.promise;
    timer.cancel();
  }

  /** The leases of all tasks may be lost: none of them is written any more. */
  loseAll(loss: WriterLoss): void {
    for (const { run } of this.#live.values()) run.writer.lose(loss);
  }

  async #shutDown(run: Run): Promise<void> {
    if (run.agent.onRestart !== "fail") return this.release(run, "shutdown");
    this.#detach(run, "shutdown", "The server is shutting down.");
    return this.end(run, "failed", [{ text: "The server was shut down while this task was running." }]);
  }

  /** The run did not end in time. Claims the task with a new epoch, which locks the run out, and ends the task. */
  async #endWithoutRun(run: Run): Promise<void> {
    const { committer, node } = this.#options;
    const { writer } = run;
    if (writer.ended || writer.loss !== undefined) return;
    const cause = run.stopping ?? "canceled";
    this.#detach(run, cause, "The run did not end in time after it was asked to stop; its task was ended without it.");
    try {
      await writer.flush();
      const claim = await committer.submit({ kind: "claim", task: writer.ref.id, node, force: true });
      if (claim.status !== "ok" || claim.epoch === undefined) return writer.lose({ kind: "lease-lost" });
      writer.epoch = claim.epoch;
    } catch (error) {
      // The node that claims the task next finds the cancel request or the deadline, too.
      if (error instanceof StoreError) writer.lose({ kind: "store-unavailable", error });
      else if (!(error instanceof TaskAborted)) throw error;
      return;
    }
    await this.end(
      run,
      cause === "canceled" ? "canceled" : "failed",
      cause === "canceled" ? undefined : [{ text: "Task timed out" }],
    );
  }

  #detach(run: Run, cause: AbortCause, message: string): void {
    this.#separate(run, cause === "parked");
    run.detach(new TaskAborted(cause, message));
  }

  /** A parked run never returns, so its slot becomes free. Any other run keeps its slot until it returns. */
  #separate(run: Run, parked: boolean): void {
    const live = this.#live.get(run.writer.ref.id);
    if (live?.run !== run) return;
    live.leaveQueue();
    if (parked) live.freeSlot();
    else if (run.isRunning) this.#orphans.add(run);
  }

  #lost(run: Run, loss: WriterLoss): void {
    this.#separate(run, false);
    const known = this.#live.get(run.writer.ref.id)?.run === run;
    this.#forget(run);
    const { id } = run.writer.ref;
    if (known && loss.kind !== "refused") this.#options.onReleased(id);
  }

  #forget(run: Run): void {
    const id = run.writer.ref.id;
    const live = this.#live.get(id);
    if (live?.run !== run) return;
    this.#live.delete(id);
    this.#count(run, -1);
    this.#options.feeds.release(live.feed);
    if (this.#live.size === 0) this.#whenEmpty?.();
  }

  #count({ writer }: Run, by: 1 | -1): void {
    const { owner } = writer.ref.scope;
    const count = this.countOf(owner) + by;
    if (count > 0) this.#owners.set(owner, count);
    else this.#owners.delete(owner);
  }

  /** The outcomes of a commit were handed out: tells the other nodes about all its tasks at once. */
  publishHints(): void {
    if (this.#hints.length === 0) return;
    const hints = this.#hints;
    this.#hints = [];
    this.#options.bus.publish(hints);
  }

  #committed(task: TaskRef, views: readonly LogView[]): void {
    this.#hints.push({ kind: "log", task: task.id, seq: views.at(-1)?.seq ?? 0 });
    const span = this.#live.get(task.id)?.run.observer.span;
    if (span !== undefined) for (const { seq, state } of views) span.event(seq, state);
    const { hooks, logger } = this.#options.environment;
    if (hooks.on?.event === undefined) return;
    for (const view of views)
      callHook(() => hooks.on?.event?.({ ...readEvent(view.body), seq: view.seq }, publicRef(task)), logger);
  }
}
