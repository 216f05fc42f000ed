import type { Bus } from "../../bus/contract.ts";
import { ChurnMap } from "../../internal/churn-map.ts";
import { createDeferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { TerminalState } from "../../protocol/state.ts";
import { type InboxEntry, type Store, StoreError } from "../../store/contract.ts";
import { type AbortCause, type Agent, TaskAborted } from "../agent/agent.ts";
import type { TaskRef } from "../api.ts";
import type { Committer } from "../log/committer.ts";
import { ENGINE_NOTE } from "../log/note.ts";
import { TaskLogWriter } from "../log/task-log-writer.ts";
import type { WriterDependencies, WriterLoss, WriterStart } from "../log/writer-contract.ts";
import type { Feed } from "../read/feed.ts";
import type { Feeds } from "../read/feeds.ts";
import type { LogView } from "../read/log-view.ts";
import { publicRef } from "../read/ticket.ts";
import { firstTimeOut } from "../record/runner-record.ts";
import { type AttemptStart, callHook, Run, type RunEnvironment, type RunHost } from "./run.ts";
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
  /** A task was let go of while something may be waiting for it. */
  readonly onReleased: (id: TaskId) => void;
}

const INBOXES_AT_A_TIME = 200;
const NOTHING = (): void => {};

interface Live {
  readonly run: Run;
  readonly feed: Feed;
  leaveQueue: () => void;
  freeSlot: () => void;
}

/** The tasks this process writes: those at work, those waiting in their run, and those waiting for a slot. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #writerDependencies: WriterDependencies;
  readonly #runHost: RunHost;
  readonly #live = new ChurnMap<TaskId, Live>();
  /** How many of them each owner has. */
  readonly #owners = new Map<string, number>();
  /** How many inboxes the rounds have looked into since they began anew. */
  #checked = 0;
  readonly #slots: ReadonlyMap<string, Slots>;
  /** Runs that have lost their task and still have not returned. They keep their slots until they do. */
  readonly #orphans = new Set<Run>();
  #whenEmpty: (() => void) | undefined;

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

  /** How many tasks of this owner are held here. */
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

  /** Makes this process the writer of a task. The feed must be held; it is let go of with the task. */
  open(agent: Agent, feed: Feed, start: WriterStart): Run {
    const run = new Run(agent, new TaskLogWriter(start, feed, this.#writerDependencies), this.#runHost);
    this.#live.set(start.ref.id, { run, feed, leaveQueue: NOTHING, freeSlot: NOTHING });
    this.#count(run, 1);
    return run;
  }

  /** Starts the run when there is a slot for it, and it is ready; if it never will be, not at all. */
  begin(run: Run, beginning: AttemptStart, ready?: Promise<void>): void {
    const live = this.#live.get(run.writer.ref.id);
    const slots = this.#slots.get(run.agent.id);
    if (live === undefined || slots === undefined) return;
    // Also while it waits for a slot.
    if (run.writer.isStored) run.watchLimit();
    live.leaveQueue = slots.enter(() => {
      let held = true;
      live.freeSlot = () => {
        if (held) slots.leave();
        held = false;
      };
      const execution =
        ready === undefined
          ? run.execute(beginning)
          : ready.then(
              () => run.execute(beginning),
              () => {},
            );
      void execution.then(() => {
        live.freeSlot();
        this.#orphans.delete(run);
        if (run.writer.ended) this.#forget(run);
      });
    });
  }

  /** Ends a task that needs no run. */
  async end(run: Run, state: TerminalState, parts?: readonly Part[]): Promise<void> {
    try {
      await run.writer.end(state, { ...(parts !== undefined && { parts }), unlessInbox: false, note: ENGINE_NOTE });
    } catch (error) {
      if (!(error instanceof TaskAborted)) await run.failAsLastResort(error);
    }
    this.#forget(run);
  }

  /** Something was left in a task's inbox. `node` holds its lease. */
  deliver(id: TaskId, entry: InboxEntry, node: string | undefined): void {
    const { bus, onReleased } = this.#options;
    const live = this.#live.get(id);
    if (live !== undefined) live.run.writer.deliver(entry);
    else if (node === undefined || node === this.#options.node) onReleased(id);
    else bus.publish({ task: id, kind: "inbox" });
  }

  /** Reads the inbox of a task that is at work here, after a hint from another node. */
  async checkInbox(id: TaskId): Promise<void> {
    const live = this.#live.get(id);
    if (live === undefined) return;
    for (const entry of await this.#options.store.inbox(id)) live.run.writer.deliver(entry);
  }

  /** Looks into the inboxes of tasks at work here, of many into some each time: a hint may have been lost. */
  async checkInboxes(): Promise<void> {
    // Not by an iterator kept from round to round: that would keep alive all that came and went meanwhile.
    const ids = [...this.#live.keys()];
    const from = this.#checked < ids.length ? this.#checked : 0;
    const some = ids.slice(from, from + INBOXES_AT_A_TIME);
    this.#checked = from + some.length;
    await Promise.all(some.map((id) => this.checkInbox(id)));
  }

  /** The lease had run out for a while: lets go of what another node has taken over, or ended, meanwhile. */
  async verifyLeases(): Promise<void> {
    const { store, node } = this.#options;
    await Promise.all(
      this.#live.values().map(async ({ run }) => {
        if (!run.writer.isStored) return;
        const record = await store.get(run.writer.ref.id, { artifacts: false, history: 0 });
        if (record?.node !== node) run.writer.lose({ kind: "lease-lost" });
      }),
    );
  }

  /** Gives the task back in good order: another start will go on with it. */
  async release(run: Run, cause: "parked" | "shutdown"): Promise<void> {
    const { writer } = run;
    const id = writer.ref.id;
    const live = this.#live.get(id);
    if (live?.run !== run || writer.ended || writer.loss !== undefined) return;
    this.#detach(
      run,
      cause,
      cause === "parked" ? "The run is parked until there is something for it." : "The server is shutting down.",
    );
    try {
      if (cause === "shutdown") writer.updateHead({ runner: { released: true } });
      else if (writer.wakeAt === undefined && writer.runner.pausedAt === undefined)
        writer.updateHead({ active: false, wakeAt: firstTimeOut(writer.runner) });
      // Nobody is at work on it now, whatever it waited for before.
      else writer.updateHead({ active: false });
      await writer.release();
    } catch (error) {
      if (!(error instanceof TaskAborted)) throw error;
    }
    this.#forget(run);
    // What came in while it was being let go of must not wait for the next look round.
    if (writer.inbox.length > 0) this.#options.onReleased(id);
  }

  /** Shutdown: waits for the runs at work, then takes their tasks away from them. */
  async drain(timeout: number): Promise<void> {
    const { clock } = this.#options.environment;
    const idle = this.#live.values().filter(({ run }) => run.writer.runner.pausedAt !== undefined || !run.isRunning);
    await Promise.all(idle.map(({ run }) => this.#shutDown(run)));
    const done = createDeferred<void>();
    const timer = clock.setTimer(clock.now() + timeout, () => done.resolve());
    this.#whenEmpty = () => done.resolve();
    if (this.#live.size > 0) await done.promise;
    timer.cancel();
    await Promise.all(this.#live.values().map(({ run }) => this.#shutDown(run)));
  }

  /** The lease on everything here may be lost: nothing is written any more. */
  loseAll(loss: WriterLoss): void {
    for (const { run } of this.#live.values()) run.writer.lose(loss);
  }

  async #shutDown(run: Run): Promise<void> {
    if (run.agent.onRestart !== "fail") return this.release(run, "shutdown");
    this.#detach(run, "shutdown", "The server is shutting down.");
    return this.end(run, "failed", [{ text: "The server was shut down while this task was at work." }]);
  }

  /** The run did not end in its time: the task is taken from it, under a new epoch, and ended as was wished. */
  async #endWithoutRun(run: Run): Promise<void> {
    const { committer, node } = this.#options;
    const { writer } = run;
    if (writer.ended || writer.loss !== undefined) return;
    const cause = run.stopping ?? "canceled";
    this.#detach(run, cause, "The run did not end in time; its task was ended without it.");
    try {
      await writer.flush();
      const claim = await committer.submit({ kind: "claim", task: writer.ref.id, node, force: true });
      if (claim.status !== "ok" || claim.epoch === undefined) return writer.lose({ kind: "lease-lost" });
      writer.epoch = claim.epoch;
    } catch (error) {
      // Whoever takes the task up again finds the wish to cancel it, or its deadline, as this one did.
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

  /** A parked run is not expected ever to return, so its slot is free; any other keeps it until it does. */
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

  #committed(task: TaskRef, views: readonly LogView[]): void {
    const { bus, environment } = this.#options;
    bus.publish({ task: task.id, kind: "log" });
    const { hooks, logger } = environment;
    if (hooks.on?.event === undefined) return;
    for (const view of views)
      callHook(() => hooks.on?.event?.({ ...readEvent(view.body), seq: view.seq }, publicRef(task)), logger);
  }
}
