import type { Clock, Timer } from "../../internal/clock.ts";
import { LazyAbort } from "../../internal/lazy-abort.ts";
import type { Logger } from "../../internal/logger.ts";
import { type CallPath, joinCallPaths, NO_CALL_PATH } from "../../protocol/call-path.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TerminalState } from "../../protocol/state.ts";
import type { InboxEntry, StepRecord } from "../../store/contract.ts";
import {
  type AbortCause,
  type Agent,
  type InputTimeout,
  type Output,
  type RunFunction,
  type RunResult,
  type Skill,
  TaskAborted,
} from "../agent/agent.ts";
import { Rejection } from "../agent/rejection.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { EngineHooks } from "../api.ts";
import type { Limits } from "../limits.ts";
import { ENGINE_NOTE } from "../log/note.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { abortOf, type WriterListener, type WriterLoss } from "../log/writer-contract.ts";
import { readFailure } from "../read/read-retries.ts";
import { publicRef } from "../read/ticket.ts";
import { readInboxMessage } from "../record/inbox-message.ts";
import type { Turn } from "./context-host.ts";
import { Emitter } from "./emitter.ts";
import { iterateResult } from "./iterate.ts";
import { Memory } from "./memory.ts";
import { OpenQuestions } from "./open-questions.ts";
import type { Replay } from "./replay.ts";
import { openSealed, type Sealer } from "./seal.ts";
import { RESULT, RunContext } from "./task-context.ts";
import { Waits } from "./waits.ts";

export interface RunEnvironment {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly hooks: EngineHooks;
  readonly sealer: Sealer;
  /** Names the server in the paths of calls. */
  readonly serverId: string;
  /** Milliseconds of waiting after which a run is let go of. */
  readonly parkAfter: number;
  /** Milliseconds a run has to end after it was told to. */
  readonly grace: number;
}

/** How one attempt begins. */
export interface AttemptStart {
  readonly turn: Turn;
  readonly skill: Skill | undefined;
  readonly steps: readonly StepRecord[];
  readonly replay: Replay | undefined;
}

/** What all runs of an engine share: what they may use, and who is told of what. */
export interface RunHost {
  readonly environment: RunEnvironment;
  /** Finds out what the next unread message asks for; `undefined`: there is none. */
  readonly nextTurn: (run: Run) => Promise<AttemptStart | undefined>;
  /** The run has waited long enough to be let go of. */
  readonly onPark: (run: Run) => void;
  /** It was told to end and has not; somebody must end the task over its head. */
  readonly onOverdue: (run: Run) => void;
  /** Its task is gone from it. */
  readonly onLost: (run: Run, loss: WriterLoss) => void;
}

/** What callers are told of an error that was not meant for them. */
const AGENT_FAILED = "The agent failed while working on this task.";

type AttemptResult = { readonly kind: "returned" } | { readonly kind: "threw"; readonly error: unknown };

/** The author's function at work on one task: from its start to the task's end, or until the task is taken away from it. */
export class Run implements WriterListener {
  readonly agent: Agent;
  readonly writer: TaskLogWriter;
  /** The author's function was called, and has not returned yet. */
  isRunning = false;
  readonly #host: RunHost;
  readonly #aborter = new LazyAbort();
  #waits: Waits | undefined;
  #questions: OpenQuestions | undefined;
  #stop: { readonly cause: "canceled" | "timeout" } | undefined;
  #detached: TaskAborted | undefined;
  #over = false;
  #deadline: Timer | undefined;
  #limit: Timer | undefined;
  #grace: Timer | undefined;

  constructor(agent: Agent, writer: TaskLogWriter, host: RunHost) {
    this.#host = host;
    this.agent = agent;
    this.writer = writer;
    writer.listener = this;
  }

  /** Why it was told to end; absent while nobody told it. */
  get stopping(): "canceled" | "timeout" | undefined {
    return this.#stop?.cause;
  }

  /** Runs the turn, and every further one that messages ask for. Never rejects. */
  async execute(beginning: AttemptStart): Promise<void> {
    if (this.#detached !== undefined) return;
    let next: AttemptStart | undefined = beginning;
    this.isRunning = true;
    try {
      while (next !== undefined) {
        // A cancel overtakes a message that was about to begin another turn.
        const ending: AttemptResult =
          this.#stop === undefined || this.#isRunAfterCancel(next)
            ? await this.#attempt(next)
            : { kind: "threw", error: this.#aborter.reason };
        if (this.#detached !== undefined) return;
        next = await this.#after(ending);
      }
    } catch (error) {
      // A lost lease or store is dealt with where it was found out; anything else is a defect of ours and must not stay silent.
      if (error instanceof TaskAborted) return;
      const unread = readFailure(error);
      if (this.#detached !== undefined) this.#report(error);
      // Not the agent's fault: the task is run again when the store answers.
      else if (unread !== undefined) this.writer.lose({ kind: "store-unavailable", error: unread });
      else await this.failAsLastResort(error);
    } finally {
      this.isRunning = false;
      this.#over = true;
      this.#deadline?.cancel();
      this.#limit?.cancel();
      this.#grace?.cancel();
    }
  }

  /** Tells the run to end, because somebody wants it or its time is up. What it reaches within the grace (milliseconds) counts. */
  stop(cause: "canceled" | "timeout", grace: number = this.#host.environment.grace): void {
    if (this.#stop !== undefined || this.#over || this.#detached !== undefined) return;
    this.#stop = { cause };
    this.#abort(cause, cause === "canceled" ? "The task was canceled." : "The task's time is up.");
    const { clock } = this.#host.environment;
    const isAwaited = this.isRunning || this.runsAfterCancel;
    this.#grace = clock.setTimer(clock.now() + (isAwaited ? grace : 0), () => this.#host.onOverdue(this), {
      unref: true,
    });
  }

  /** Even a canceled task is run again, where it has been at work before: it may hold something elsewhere. */
  get runsAfterCancel(): boolean {
    return this.agent.onCancel === "resume" && this.writer.state !== "submitted";
  }

  #isRunAfterCancel({ replay }: AttemptStart): boolean {
    return this.runsAfterCancel && replay !== undefined;
  }

  /** Takes the task away from this run: whatever it still does, it can write no more. */
  detach(reason: TaskAborted): void {
    if (this.#detached !== undefined) return;
    this.#detached = reason;
    this.#deadline?.cancel();
    this.#limit?.cancel();
    this.#grace?.cancel();
    this.#questions?.stop();
    this.#waits?.abort(reason);
    this.#aborter.abort(reason);
  }

  openEntry(entry: InboxEntry): Message | undefined {
    const { sealer } = this.#host.environment;
    const body = entry.sealed ? openSealed(sealer, entry.body, this.writer.ref.id) : entry.body;
    if (body === undefined) return undefined;
    const { callPath, message } = readInboxMessage(body);
    if (callPath !== undefined) this.#addCallPath(callPath);
    return message;
  }

  /** What the run calls from now on has passed these agents too. */
  #addCallPath(callPath: CallPath): void {
    const before = this.writer.runner.callPath ?? NO_CALL_PATH;
    const joined = joinCallPaths(before, callPath);
    if (joined !== before) this.writer.updateHead({ runner: { callPath: joined } });
  }

  /** The last resort, so that no task is left with nobody at work on it. Past any transform, which may be what failed. Never rejects. */
  async failAsLastResort(error: unknown): Promise<void> {
    this.#report(error);
    try {
      await this.writer.end("failed", {
        parts: [{ text: AGENT_FAILED }],
        unlessInbox: false,
        note: ENGINE_NOTE,
        isFinal: true,
      });
    } catch (again) {
      if (!(again instanceof TaskAborted)) this.#report(again);
    }
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Values of an Observable that may wait to be written. */
  get maxBuffered(): number {
    return this.#host.environment.limits.observableBuffer;
  }

  get logger(): Logger {
    return this.#host.environment.logger;
  }

  get serverId(): string {
    return this.#host.environment.serverId;
  }

  get inputTimeout(): InputTimeout | undefined {
    const { inputTimeout } = this.agent;
    return typeof inputTimeout === "number" ? { ms: inputTimeout, then: "fail" } : inputTimeout;
  }

  now(): number {
    return this.#host.environment.clock.now();
  }

  /** Made when first needed: most runs never wait. */
  waits(): Waits {
    if (this.#waits === undefined) {
      const { environment, onPark } = this.#host;
      const staysActive = this.agent.onRestart === "fail";
      this.#waits = new Waits({
        writer: this.writer,
        clock: environment.clock,
        parkAfter: staysActive ? Number.POSITIVE_INFINITY : environment.parkAfter,
        staysActive,
        aborted: () => this.#aborter.reason,
        onPark: () => onPark(this),
        onResume: () => this.#armDeadline(),
      });
    }
    return this.#waits;
  }

  /** Made when first needed. */
  questions(): OpenQuestions {
    const { clock } = this.#host.environment;
    this.#questions ??= new OpenQuestions({
      writer: this.writer,
      clock,
      openEntry: (entry) => this.openEntry(entry),
    });
    return this.#questions;
  }

  memory(steps: readonly StepRecord[]): Memory {
    const { sealer, limits } = this.#host.environment;
    return new Memory({ writer: this.writer, sealer, steps, maxSteps: limits.maxSteps });
  }

  /** Why nothing may be written any more; `undefined` while it may. */
  closed(): Error | undefined {
    if (this.#detached !== undefined) return this.#detached;
    return this.#over
      ? new TaskAborted("lease-lost", "The task has ended; nothing can be written to it any more.")
      : undefined;
  }

  /** The task is in the store and its run goes on: from here on its time is watched. */
  watchDeadline(): void {
    if (this.#deadline === undefined && this.isRunning && this.writer.runner.pausedAt === undefined) this.#armDeadline();
    this.watchLimit();
  }

  /** Fails the task at the limit that its caller gave, whether it is queued, at work, asleep or waiting. */
  watchLimit(): void {
    const { limitAt } = this.writer.runner;
    if (limitAt === undefined || this.#limit !== undefined || this.#over || this.#detached !== undefined) return;
    this.#limit = this.#host.environment.clock.setTimer(limitAt, () => this.#limitReached(), { unref: true });
  }

  async #attempt(beginning: AttemptStart): Promise<AttemptResult> {
    const { writer, agent } = this;
    const { hooks } = this.#host.environment;
    const emitter = new Emitter({ writer, replay: beginning.replay, transforms: hooks.transform !== undefined });
    const context = new RunContext({ run: this, turn: beginning.turn, steps: beginning.steps, writer, emitter });
    // A task that ends in its first commit never needs a timer.
    if (writer.isStored) this.watchDeadline();
    if (this.#inboxHasCancel()) this.stop("canceled");
    try {
      if (writer.state === "submitted") writer.status("working", { note: ENGINE_NOTE });
      if (!this.#isRunAfterCancel(beginning)) this.#aborter.throwIfAborted();
      await this.#consume(runOf(agent, beginning.skill)(context), context);
      await emitter.finish();
      return { kind: "returned" };
    } catch (error) {
      return { kind: "threw", error };
    } finally {
      // What this attempt left running behind its back must not reach the next turn.
      context.close();
    }
  }

  async #consume(result: RunResult | undefined, context: RunContext): Promise<void> {
    const value = iterateResult(result, this) ?? (await result);
    const chunks = iterateResult(value, this);
    if (chunks !== undefined) return this.#consumeAll(chunks, context);
    // Whoever returns nothing after being told to stop has stopped; a result, though, is a result.
    if (value === undefined) return this.#aborter.throwIfAborted();
    // Safe: a run returns an Output or nothing; toParts refuses whatever is neither.
    return context.artifact(RESULT).end(value as JsonValue);
  }

  async #consumeAll(chunks: AsyncIterable<Output>, context: RunContext): Promise<void> {
    for await (const chunk of chunks) {
      this.#aborter.throwIfAborted();
      await context.yielded(chunk);
    }
    // A generator that was cut short by the signal may end as if it were done.
    this.#aborter.throwIfAborted();
  }

  /** Ends the task, or finds the message that wants another turn. */
  async #after(ending: AttemptResult): Promise<AttemptStart | undefined> {
    this.#waits?.close();
    this.#waits = undefined;
    this.#questions?.stop();
    this.#questions = undefined;
    while ((await this.#finish(ending)) === "inbox") {
      const next = await this.#host.nextTurn(this);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  async #finish(ending: AttemptResult): Promise<"ended" | "inbox"> {
    const { writer } = this;
    if (ending.kind === "returned") {
      if (writer.inbox.some((entry) => entry.kind === "message") && this.#stop === undefined) return "inbox";
      return this.#end("completed", undefined, this.#stop === undefined);
    }
    const { error } = ending;
    if (error instanceof Rejection) return this.#end("rejected", [{ text: error.message }]);
    if (this.#stop?.cause === "canceled") return this.#end("canceled");
    if (this.#stop?.cause === "timeout") return this.#end("failed", [{ text: "Task timed out" }]);
    if (error instanceof TaskFailure) return this.#end("failed", failureParts(error));
    this.#report(error);
    return this.#end("failed", [{ text: AGENT_FAILED }]);
  }

  async #end(state: TerminalState, parts?: readonly Part[], unlessInbox = false): Promise<"ended" | "inbox"> {
    const result = await this.writer.end(state, {
      ...(parts !== undefined && { parts }),
      unlessInbox,
      note: ENGINE_NOTE,
    });
    if (result === "ended") this.#over = true;
    return result;
  }

  stored(): void {
    this.watchDeadline();
  }

  lost(loss: WriterLoss): void {
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
      this.#questions?.takeLate();
    }
  }

  #inboxHasCancel(): boolean {
    return this.writer.inbox.some((entry) => entry.kind === "cancel");
  }

  #armDeadline(): void {
    const { deadline } = this.writer.runner;
    this.#deadline?.cancel();
    if (deadline === undefined || this.#over || this.#detached !== undefined) return;
    this.#deadline = this.#host.environment.clock.setTimer(deadline, () => this.#deadlineReached(), { unref: true });
  }

  #deadlineReached(): void {
    // While it waits for the caller its time stands still; waking up moves the deadline and sets the timer anew.
    if (this.writer.runner.pausedAt === undefined) this.stop("timeout");
  }

  #limitReached(): void {
    // The agent's own time may be up already, with its grace not over yet.
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
    logger.error("A run failed", { task: task.id, agent: this.agent.id, error });
    callHook(() => hooks.on?.error?.(error, publicRef(task)), logger);
  }
}

/** Calls a handler of the host's; whatever becomes of it changes nothing here. */
export function callHook(call: () => void | Promise<void>, logger: Logger): void {
  const failed = (error: unknown): void => logger.error("A hook failed", { error });
  try {
    Promise.resolve(call()).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function runOf(agent: Agent, skill: Skill | undefined): RunFunction<unknown> {
  // Safe: routing has validated the data by this skill's schema, which is what its input type stands for.
  const run = (skill?.run?.bind(skill) ?? agent.run?.bind(agent)) as RunFunction<unknown> | undefined;
  if (run === undefined)
    throw new Error(
      `Agent ${agent.id} has no run() for ${skill === undefined ? "this message" : `skill ${skill.id}`}.`,
    );
  return run;
}

function failureParts(failure: TaskFailure): readonly Part[] {
  return failure.data === undefined ? [{ text: failure.message }] : [{ text: failure.message }, { data: failure.data }];
}
