import { callHook } from "../../internal/call-hook.ts";
import type { Clock } from "../../internal/clock.ts";
import { LazyAbort } from "../../internal/lazy-abort.ts";
import type { Logger } from "../../internal/logger.ts";
import { type CallPath, joinCallPaths, NO_CALL_PATH } from "../../protocol/call-path.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TerminalState } from "../../protocol/state.ts";
import { AGENT_FAILED } from "../../protocol/task.ts";
import type { InboxEntry, StepRecord } from "../../store/contract.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import { type AbortCause, type Agent, type InputTimeout, type RunResult, TaskAborted } from "../agent/agent.ts";
import { type CallEnvironment, ChildTasks } from "../call/child-tasks.ts";
import { ENGINE_NOTE } from "../log/note.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { abortOf, type WriterListener, type WriterLoss } from "../log/writer-contract.ts";
import { publicRef } from "../read/public-ref.ts";
import { readFailure } from "../read/read-retries.ts";
import { type InboxMessage, readInboxMessage } from "../record/inbox-message.ts";
import type { NodeLease } from "../record/node-lease.ts";
import { openSealed } from "../record/seal.ts";
import {
  type AttemptResult,
  consumeResult,
  outcomeOf,
  RETURNED,
  type RunValue,
  runOf,
  type StopCause,
} from "./attempt-result.ts";
import type { RunStorage } from "./context-host.ts";
import { Emitter } from "./emitter.ts";
import type { IdleRuns } from "./idle-runs.ts";
import { iterateResult } from "./iterate.ts";
import { Memory } from "./memory.ts";
import { type AskingRun, OpenQuestions } from "./questions/open-questions.ts";
import type { AttemptStart, RunEnvironment } from "./run-environment.ts";
import { RunObserver } from "./run-observer.ts";
import { RunTimers, type TimedRun } from "./run-timers.ts";
import { RunContext } from "./task-context.ts";
import { type WaitingRun, Waits } from "./waits.ts";

/** What all runs of an engine use, and the callbacks that they call. */
export interface RunHost {
  readonly environment: RunEnvironment;
  readonly storage: RunStorage;
  /** Prepares the turn for the next message in the inbox; `undefined`: the inbox has none. */
  readonly nextTurn: (run: Run) => Promise<AttemptStart | undefined>;
  /** The run has waited for `parkAfter`. */
  readonly onPark: (run: Run) => void;
  /** The run did not end in time after it was asked to stop; the task must be ended without it. */
  readonly onOverdue: (run: Run) => void;
  /** The run has lost its task. */
  readonly onLost: (run: Run, loss: WriterLoss) => void;
}

/** Runs the agent's code for one task: from the first turn until the task ends, or until this process loses or releases the task. */
export class Run implements WriterListener, WaitingRun, AskingRun, TimedRun {
  readonly agent: Agent;
  readonly writer: TaskLogWriter;
  readonly observer: RunObserver;
  /** The agent's code was called and has not returned yet. */
  isRunning = false;
  readonly #host: RunHost;
  readonly #aborter = new LazyAbort();
  #waits: Waits | undefined;
  #questions: OpenQuestions | undefined;
  #stop: { readonly cause: StopCause } | undefined;
  #detached: TaskAborted | undefined;
  #hasEnded = false;
  #timers: RunTimers | undefined;
  #children: ChildTasks | undefined;

  constructor(agent: Agent, writer: TaskLogWriter, host: RunHost) {
    this.#host = host;
    this.agent = agent;
    this.writer = writer;
    this.observer = new RunObserver(this);
    writer.listener = this;
  }

  /** Why the run was asked to stop; `undefined` if it was not. */
  get stopping(): StopCause | undefined {
    return this.#stop?.cause;
  }

  /** Runs a turn, and further turns for the messages that arrive meanwhile. Never rejects. */
  async execute(start: AttemptStart): Promise<void> {
    if (this.#detached !== undefined) return;
    let next: AttemptStart | undefined = start;
    this.isRunning = true;
    try {
      while (next !== undefined) {
        let result: AttemptResult = RETURNED;
        const context = this.#context(next);
        try {
          const returned = this.#begin(next, context);
          const iterated = iterateResult(returned, this);
          const value: RunValue = iterated === undefined ? await returned : undefined;
          const consumer = { context, aborter: this.#aborter };
          // Few runs have something to wait for here: each `await` costs turns of the microtask queue, and memory while it waits.
          const written = consumeResult(iterated ?? iterateResult(value, this), value, consumer);
          if (written !== undefined) await written;
          context.requireBudget();
          const finished = context.finish();
          if (finished !== undefined) await finished;
        } catch (error) {
          result = { kind: "threw", error };
        } finally {
          if (context.hasCalls) await context.endCalls();
          // Calls that the agent's code did not await must not write to the next turn.
          context.close();
        }
        if (this.#detached !== undefined) return;
        this.#endWaits();
        next = undefined;
        while (next === undefined && !(await this.#finish(result))) next = await this.#host.nextTurn(this);
      }
    } catch (error) {
      // A lost task was handled when it was lost. Anything else is a defect of the engine and must be reported.
      if (error instanceof TaskAborted) return;
      const unread = readFailure(error);
      if (this.#detached !== undefined) this.#report(error);
      // The agent is not to blame: the task runs again when the store is available.
      else if (unread !== undefined) this.writer.lose({ kind: "store-unavailable", error: unread });
      else await this.failAsLastResort(error);
    } finally {
      this.isRunning = false;
      this.#hasEnded = true;
      this.#timers?.stop();
    }
  }

  /** Asks the run to stop. If it ends within `grace` (milliseconds), its outcome counts; otherwise the task is ended without it. */
  stop(cause: StopCause, grace: number = this.#host.environment.grace): void {
    if (this.#stop !== undefined || this.#hasEnded || this.#detached !== undefined) return;
    this.#stop = { cause };
    this.#abort(cause, cause === "canceled" ? "The task was canceled." : "The task has reached its timeout.");
    const isAwaited = this.isRunning || this.runsAfterCancel;
    this.#startTimers().startGrace(isAwaited ? grace : 0, () => this.#host.onOverdue(this));
  }

  /** A canceled task that has been running before is run again (`onCancel: "resume"`), so that the agent can undo what it did. */
  get runsAfterCancel(): boolean {
    return this.agent.onCancel === "resume" && this.writer.state !== "submitted";
  }

  #isRunAfterCancel({ replay }: AttemptStart): boolean {
    return this.runsAfterCancel && replay !== undefined;
  }

  /** Separates the run from its task. The agent's code may still be running, but it can write nothing any more. */
  detach(reason: TaskAborted): void {
    if (this.#detached !== undefined) return;
    this.#detached = reason;
    this.#timers?.stop();
    this.#questions?.stop();
    this.#waits?.abort(reason);
    this.#aborter.abort(reason);
  }

  /** Reads an inbox entry. `undefined`: it is sealed with a secret that is not known any more. */
  openEntry(entry: InboxEntry): Message | undefined {
    return this.readEntry(entry)?.message;
  }

  /** As `openEntry`, with everything that was stored with the message. */
  readEntry(entry: InboxEntry): InboxMessage | undefined {
    const { sealer } = this.#host.environment;
    const body = entry.sealed ? openSealed(sealer, entry.body, this.writer.ref.id) : entry.body;
    if (body === undefined) return undefined;
    const read = readInboxMessage(body);
    if (read.callPath !== undefined) this.#addCallPath(read.callPath);
    return read;
  }

  /** Adds the agents that a message has passed to the call path of this task's own calls. */
  #addCallPath(callPath: CallPath): void {
    const before = this.writer.runner.callPath ?? NO_CALL_PATH;
    const joined = joinCallPaths(before, callPath);
    if (joined !== before) this.writer.updateHead({ runner: { callPath: joined } });
  }

  /** Fails the task, so that it does not stay open without a run. Skips the server's `transform`, which may be the cause. Never rejects. */
  async failAsLastResort(error: unknown): Promise<void> {
    this.#report(error);
    if (this.writer.runner.children !== undefined) await this.endChildren();
    this.observer.attemptEnded("failed");
    try {
      await this.writer.end("failed", {
        parts: [{ text: AGENT_FAILED }],
        unlessInbox: false,
        note: ENGINE_NOTE,
        isFinal: true,
      });
    } catch (second) {
      if (!(second instanceof TaskAborted)) this.#report(second);
    }
    this.observer.spanEnded();
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** How many values of an Observable may wait to be written. */
  get maxBuffered(): number {
    return this.#host.environment.limits.observableBuffer;
  }

  get logger(): Logger {
    return this.#host.environment.logger;
  }

  get telemetry(): Telemetry | undefined {
    return this.#host.environment.telemetry;
  }

  get node(): string {
    return this.#host.environment.node;
  }

  get lease(): NodeLease {
    return this.#host.environment.lease;
  }

  get serverId(): string {
    return this.#host.environment.serverId;
  }

  get storage(): RunStorage {
    return this.#host.storage;
  }

  get calls(): CallEnvironment | undefined {
    return this.#host.environment.calls;
  }

  /** Created when first needed: most tasks call no other agents. */
  get children(): ChildTasks | undefined {
    const { calls } = this;
    if (calls !== undefined) this.#children ??= new ChildTasks(this.writer, calls);
    return this.#children;
  }

  timer(at: number, work: () => void): () => void {
    const timer = this.#host.environment.clock.setTimer(at, work, { unref: true });
    return () => timer.cancel();
  }

  /** Cancels the called tasks that are open. Call it before the task ends. Never rejects. */
  async endChildren(): Promise<void> {
    if (this.writer.runner.children === undefined) return;
    await this.children?.abandonAll().catch((error: unknown) => this.#report(error));
  }

  get inputTimeout(): InputTimeout | undefined {
    const { inputTimeout } = this.agent;
    return typeof inputTimeout === "number" ? { ms: inputTimeout, then: "fail" } : inputTimeout;
  }

  now(): number {
    return this.#host.environment.clock.now();
  }

  /** Created when first needed: most runs never wait. */
  waits(): Waits {
    this.#waits ??= new Waits(this);
    return this.#waits;
  }

  /** A step is running, which another process would run again, or a call of another agent. */
  get isInStep(): boolean {
    return this.#waits !== undefined && this.#waits.busy > 0;
  }

  /** Created when first needed. */
  questions(): OpenQuestions {
    this.#questions ??= new OpenQuestions(this);
    return this.#questions;
  }

  get clock(): Clock {
    return this.#host.environment.clock;
  }

  get staysActive(): boolean {
    return this.agent.onRestart === "fail";
  }

  get parkAfter(): number {
    return this.staysActive ? Number.POSITIVE_INFINITY : this.#host.environment.parkAfter;
  }

  get idleRuns(): IdleRuns {
    return this.#host.environment.idleRuns;
  }

  get abortReason(): Error | undefined {
    return this.#aborter.reason;
  }

  park(): void {
    this.#host.onPark(this);
  }

  paused(): void {
    this.#timers?.pauseDeadline();
  }

  continued(): void {
    this.#startTimers().restartDeadline();
  }

  memory(steps: readonly StepRecord[]): Memory {
    const { sealer, limits } = this.#host.environment;
    return new Memory({ writer: this.writer, sealer, steps, maxSteps: limits.maxSteps });
  }

  /** Why nothing can be written any more; `undefined` while the run can write. */
  closed(): Error | undefined {
    if (this.#detached !== undefined) return this.#detached;
    return this.#hasEnded
      ? new TaskAborted("lease-lost", "The task has ended; nothing can be written to it any more.")
      : undefined;
  }

  /** Starts the timers of the deadline and of the caller's limit. Call it once the task is in the store. */
  watchDeadline(): void {
    if (this.#hasEnded || this.#detached !== undefined) return;
    if (this.isRunning) this.#startTimers().watchDeadline();
    this.watchLimit();
  }

  /** Starts the timer of the caller's limit (`timeoutMs`), which applies to queued, running, sleeping and waiting tasks. */
  watchLimit(): void {
    if (this.writer.runner.limitAt === undefined || this.#hasEnded || this.#detached !== undefined) return;
    this.#startTimers().watchLimit();
  }

  /** What the agent's code works with. */
  #context(start: AttemptStart): RunContext {
    const { writer } = this;
    const transforms = this.#host.environment.hooks.transform !== undefined;
    const emitter = new Emitter({ writer, replay: start.replay, transforms });
    return new RunContext({ run: this, turn: start.turn, steps: start.steps, writer, emitter });
  }

  /** Calls the agent's code. Throws if the run was asked to stop. */
  #begin(start: AttemptStart, context: RunContext): RunResult | undefined {
    const { writer, agent } = this;
    // After a cancel no further turn begins.
    if (this.#stop !== undefined && !this.#isRunAfterCancel(start)) throw this.#aborter.reason;
    // A task that is not stored yet may end with its first commit, and then needs no timer.
    if (writer.isStored) this.watchDeadline();
    if (this.#inboxHasCancel()) this.stop("canceled");
    this.observer.attemptBegan(start.skill?.id);
    if (writer.state === "submitted") writer.status("working", { note: ENGINE_NOTE });
    if (!this.#isRunAfterCancel(start)) this.#aborter.throwIfAborted();
    return runOf(agent, start.skill)(context);
  }

  /** The agent's code has returned: nothing waits for an answer or a time any more. */
  #endWaits(): void {
    this.#waits?.close();
    this.#waits = undefined;
    this.#questions?.stop();
    this.#questions = undefined;
  }

  /** Ends the task. False: a message has arrived that needs another turn first. */
  #finish(result: AttemptResult): boolean | Promise<boolean> {
    const { writer } = this;
    if (result.kind === "returned") {
      if (writer.inbox.some((entry) => entry.kind === "message") && this.#stop === undefined) {
        this.observer.attemptEnded("completed");
        this.observer.spanEnded();
        return false;
      }
      return this.#end("completed", undefined, this.#stop === undefined);
    }
    const { state, parts, isUnexpected } = outcomeOf(result.error, this.#stop?.cause);
    if (isUnexpected === true) this.#report(result.error);
    return this.#end(state, parts);
  }

  async #end(state: TerminalState, parts?: readonly Part[], unlessInbox = false): Promise<boolean> {
    if (this.writer.runner.children !== undefined) await this.endChildren();
    this.observer.attemptEnded(state);
    const result = await this.writer.end(state, { parts, unlessInbox, note: ENGINE_NOTE });
    this.observer.spanEnded();
    if (result !== "ended") return false;
    this.#hasEnded = true;
    this.#children?.forget();
    return true;
  }

  storing(): void {
    this.observer.recordAttempt();
  }

  stored(): void {
    this.observer.recordAttempt();
    this.watchDeadline();
  }

  lost(loss: WriterLoss): void {
    this.observer.attemptEnded("lost");
    this.observer.spanEnded();
    this.detach(abortOf(loss));
    this.#host.onLost(this, loss);
  }

  resumed(): void {
    this.#questions?.showAgainSoon();
  }

  inboxChanged(): void {
    if (this.#inboxHasCancel()) this.stop("canceled");
    else {
      this.#waits?.poll();
      this.#questions?.consumeLate();
    }
  }

  #inboxHasCancel(): boolean {
    return this.writer.inbox.some((entry) => entry.kind === "cancel");
  }

  /** Created when first needed: a task that one commit creates and ends needs no timer. */
  #startTimers(): RunTimers {
    this.#timers ??= new RunTimers(this);
    return this.#timers;
  }

  deadlineReached(): void {
    this.stop("timeout");
  }

  limitReached(): void {
    // The agent's own timeout may have been reached already, with its grace not over yet.
    if (this.stopping === "timeout") this.#host.onOverdue(this);
    else this.stop("timeout", 0);
  }

  #abort(cause: AbortCause, message: string): void {
    const reason = new TaskAborted(cause, message);
    this.#waits?.abort(reason);
    this.#aborter.abort(reason);
  }

  #report(error: unknown): void {
    const { logger, hooks } = this.#host.environment;
    const task = this.writer.ref;
    const traceId = this.writer.runner.trace?.traceId;
    logger.error("A run failed", { task: task.id, context: task.contextId, agent: this.agent.id, traceId, error });
    callHook(() => hooks.on?.error?.(error, publicRef(task)), logger);
  }
}
