import type { Clock, Timer } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { JsonValue } from "../protocol/json.ts";
import { readMessage } from "../protocol/serial.ts";
import type { Message } from "../protocol/message.ts";
import type { Part } from "../protocol/part.ts";
import type { TerminalState } from "../protocol/state.ts";
import type { InboxEntry, StepRecord } from "../store/contract.ts";
import { type AbortCause, type Agent, type InputTimeout, type RunFunction, type RunResult, type Skill, TaskAborted } from "./agent.ts";
import type { EngineHooks } from "./api.ts";
import { Emitter } from "./emitter.ts";
import { iterateResult } from "./iterate.ts";
import type { Limits } from "./limits.ts";
import { Memory } from "./memory.ts";
import { toParts } from "./output.ts";
import { Rejection } from "./rejection.ts";
import type { Replay } from "./replay.ts";
import type { Sealer } from "./seal.ts";
import { RESULT, RunContext, type Turn } from "./task-context.ts";
import { TaskFailure } from "./task-failure.ts";
import { abortOf, ENGINE_NOTE, type TaskWriter } from "./task-writer.ts";
import { Waits } from "./waits.ts";

export interface RunEnvironment {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly hooks: EngineHooks;
  readonly sealer: Sealer;
  /** Milliseconds of waiting after which a run is let go of. */
  readonly parkAfter: number;
  /** Milliseconds a run has to end after it was told to. */
  readonly grace: number;
}

/** How one attempt begins. */
export interface Beginning {
  readonly turn: Turn;
  readonly skill: Skill | undefined;
  readonly steps: readonly StepRecord[];
  readonly replay: Replay | undefined;
}

export interface RunOptions {
  readonly agent: Agent;
  readonly writer: TaskWriter;
  readonly environment: RunEnvironment;
  /** Finds out what the next unread message asks for; `undefined`: there is none. */
  readonly nextTurn: (run: Run) => Promise<Beginning | undefined>;
  /** The run has waited long enough to be let go of. */
  readonly onPark: (run: Run) => void;
  /** It was told to end and has not; somebody must end the task over its head. */
  readonly onOverdue: (run: Run) => void;
}

type Ending = { readonly kind: "returned" } | { readonly kind: "threw"; readonly error: unknown };

/** The author's function at work on one task: from its start to the task's end, or until the task is taken away from it. */
export class Run {
  readonly agent: Agent;
  readonly writer: TaskWriter;
  /** The author's function was called, and has not returned yet. */
  atWork = false;
  readonly #options: RunOptions;
  readonly #controller = new AbortController();
  #waits: Waits | undefined;
  #stop: { readonly cause: "canceled" | "timeout" } | undefined;
  #detached: TaskAborted | undefined;
  #over = false;
  #deadline: Timer | undefined;
  #grace: Timer | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.agent = options.agent;
    this.writer = options.writer;
    this.writer.onInbox = () => this.#inboxChanged();
    this.writer.onLoss = (loss) => this.detach(abortOf(loss));
  }

  /** Why it was told to end; absent while nobody told it. */
  get stopping(): "canceled" | "timeout" | undefined {
    return this.#stop?.cause;
  }

  /** Runs the turn, and every further one that messages ask for. Never rejects. */
  async execute(beginning: Beginning): Promise<void> {
    if (this.#detached !== undefined) return;
    let next: Beginning | undefined = beginning;
    this.atWork = true;
    try {
      while (next !== undefined) {
        const ending: Ending = await this.#attempt(next);
        if (this.#detached !== undefined) return;
        next = (await this.#finish(ending)) === "inbox" ? await this.#options.nextTurn(this) : undefined;
      }
    } catch (error) {
      // A lost lease or store is dealt with where it was found out; anything else is a defect of ours and must not stay silent.
      if (!(error instanceof TaskAborted)) this.#report(error);
    } finally {
      this.atWork = false;
      this.#over = true;
      this.#deadline?.cancel();
      this.#grace?.cancel();
    }
  }

  /** Tells the run to end, because somebody wants it or its time is up. What it reaches within the grace counts. */
  stop(cause: "canceled" | "timeout"): void {
    if (this.#stop !== undefined || this.#over || this.#detached !== undefined) return;
    this.#stop = { cause };
    this.#abort(cause, cause === "canceled" ? "The task was canceled." : "The task's time is up.");
    const { clock, grace } = this.#options.environment;
    this.#grace = clock.setTimer(clock.now() + (this.atWork ? grace : 0), () => this.#options.onOverdue(this), { unref: true });
  }

  /** Takes the task away from this run: whatever it still does, it can write no more. */
  detach(reason: TaskAborted): void {
    if (this.#detached !== undefined) return;
    this.#detached = reason;
    this.#deadline?.cancel();
    this.#grace?.cancel();
    this.#waits?.abort(reason);
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  openEntry(entry: InboxEntry): Message {
    const { sealer } = this.#options.environment;
    return readMessage(entry.sealed ? sealer.open(entry.body, this.writer.ref.id) : entry.body);
  }

  async #attempt(beginning: Beginning): Promise<Ending> {
    const { environment, onPark } = this.#options;
    const { writer, agent } = this;
    const { clock, limits, logger, hooks, sealer } = environment;
    const staysActive = agent.onRestart === "fail";
    const emitter = new Emitter({ writer, replay: beginning.replay, transforms: hooks.transform !== undefined });
    const waits = new Waits({
      writer,
      clock,
      parkAfter: staysActive ? Number.POSITIVE_INFINITY : environment.parkAfter,
      staysActive,
      onPark: () => onPark(this),
      onResume: () => this.#armDeadline(),
    });
    this.#waits = waits;
    const context = new RunContext({
      turn: beginning.turn,
      writer,
      emitter,
      waits,
      memory: new Memory({ writer, sealer, steps: beginning.steps, maxSteps: limits.maxSteps }),
      signal: this.#controller.signal,
      logger,
      inputTimeout: inputTimeoutOf(agent),
      now: () => clock.now(),
      open: (entry) => this.openEntry(entry),
      closed: () => this.#closed(),
    });
    if (writer.runner.pausedAt === undefined) this.#armDeadline();
    if (writer.state === "submitted") writer.status("working", { note: ENGINE_NOTE });
    if (this.#inboxHasCancel()) this.stop("canceled");
    try {
      await this.#consume(runOf(agent, beginning.skill)(context), context);
      await emitter.finish();
      return { kind: "returned" };
    } catch (error) {
      return { kind: "threw", error };
    }
  }

  async #consume(result: RunResult | undefined, context: RunContext): Promise<void> {
    const { limits } = this.#options.environment;
    const options = { signal: this.#controller.signal, maxBuffered: limits.observableBuffer };
    const value = iterateResult(result, options) ?? (await result);
    const chunks = iterateResult(value, options);
    if (chunks !== undefined) {
      for await (const chunk of chunks) {
        this.#controller.signal.throwIfAborted();
        await context.yielded(chunk);
      }
      // A generator that was cut short by the signal may end as if it were done.
      this.#controller.signal.throwIfAborted();
      return;
    }
    // Safe: a run returns an Output or nothing; toParts refuses whatever is neither.
    if (value !== undefined) await context.artifact(RESULT).end(value as JsonValue);
  }

  async #finish(ending: Ending): Promise<"ended" | "inbox"> {
    const { writer } = this;
    if (ending.kind === "returned") {
      if (writer.inbox.some((entry) => entry.kind === "message") && this.#stop === undefined) return "inbox";
      writer.completeArtifacts();
      return this.#end("completed", undefined, this.#stop === undefined);
    }
    const { error } = ending;
    if (error instanceof Rejection) return this.#end("rejected", [{ text: error.message }]);
    if (this.#stop?.cause === "canceled") return this.#end("canceled");
    if (this.#stop?.cause === "timeout") return this.#end("failed", [{ text: "Task timed out" }]);
    if (error instanceof TaskFailure) return this.#end("failed", failureParts(error));
    this.#report(error);
    return this.#end("failed", [{ text: "The agent failed while working on this task." }]);
  }

  async #end(state: TerminalState, parts?: readonly Part[], unlessInbox = false): Promise<"ended" | "inbox"> {
    const result = await this.writer.end(state, { ...(parts !== undefined && { parts }), unlessInbox, note: ENGINE_NOTE });
    if (result === "ended") this.#over = true;
    return result;
  }

  #inboxChanged(): void {
    if (this.#inboxHasCancel()) this.stop("canceled");
    else this.#waits?.poll();
  }

  #inboxHasCancel(): boolean {
    return this.writer.inbox.some((entry) => entry.kind === "cancel");
  }

  #armDeadline(): void {
    const { deadline } = this.writer.runner;
    this.#deadline?.cancel();
    if (deadline === undefined) return;
    this.#deadline = this.#options.environment.clock.setTimer(deadline, () => this.#deadlineReached(), { unref: true });
  }

  #deadlineReached(): void {
    // While it waits for the caller its time stands still; waking up moves the deadline and sets the timer anew.
    if (this.writer.runner.pausedAt === undefined) this.stop("timeout");
  }

  #abort(cause: AbortCause, message: string): void {
    const reason = new TaskAborted(cause, message);
    this.#waits?.abort(reason);
    this.#controller.abort(reason);
  }

  #closed(): Error | undefined {
    if (this.#detached !== undefined) return this.#detached;
    return this.#over ? new TaskAborted("lease-lost", "The task has ended; nothing can be written to it any more.") : undefined;
  }

  #report(error: unknown): void {
    const { logger, hooks } = this.#options.environment;
    const task = this.writer.ref;
    logger.error("A run failed", { task: task.id, agent: this.agent.id, error });
    callHook(() => hooks.on?.error?.(error, task), logger);
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
  if (run === undefined) throw new Error(`Agent ${agent.id} has no run() for ${skill === undefined ? "this message" : `skill ${skill.id}`}.`);
  return run;
}

function inputTimeoutOf(agent: Agent): InputTimeout | undefined {
  return typeof agent.inputTimeout === "number" ? { ms: agent.inputTimeout, then: "fail" } : agent.inputTimeout;
}

function failureParts(failure: TaskFailure): readonly Part[] {
  return failure.data === undefined ? [{ text: failure.message }] : [{ text: failure.message }, { data: failure.data }];
}
