import { publicTaskId } from "../../protocol/task-key.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AttemptSpan, AttemptStart, StepCall, StepCallResult, Telemetry } from "../../telemetry/contract.ts";
import { attemptContext } from "../../telemetry/spans/span-ids.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { JournalEnd, JournalEntry, JournalKind } from "../record/journal.ts";

/** A step that runs. */
export interface BegunStep {
  /** Where work of the step belongs in a trace. */
  readonly trace: TraceContext | undefined;
  /** Call it at the end, with the error if the step failed, else with what is known of its result. */
  ended(end: { readonly error: unknown } | { readonly result: StepCallResult | undefined }): void;
}

/** Why a step did not end before its attempt. */
class AttemptEndedFirst extends Error {
  readonly code: string;
  constructor(outcome: string) {
    super("The attempt ended before the step.");
    this.code = outcome;
  }
}

/** The run that is observed. */
export interface ObservedRun {
  readonly writer: TaskLogWriter;
  /** The id of this process. */
  readonly node: string;
  readonly telemetry: Telemetry | undefined;
  now(): number;
}

/**
 * Records when attempts, steps, questions and waits of a run began and ended: in the journal of the task, and as spans if the server is
 * observed. Nothing is committed for the journal alone: its entries go with the next commit of the task, and a task that one commit creates
 * and ends has none.
 */
export class RunObserver {
  readonly #run: ObservedRun;
  /** When the attempt that runs began. */
  #attemptStart: number | undefined;
  #isRecorded = false;
  #span: AttemptSpan | undefined;
  #trace: TraceContext | undefined;
  /** How the attempt ended, while its span has not ended. */
  #outcome: string | undefined;
  /** Ends the spans of steps, questions and waits that the attempt has not ended, by `step KEY` and so on. Absent: nothing is traced, or none are open. */
  #open: Map<string, (outcome: string) => void> | undefined;

  constructor(run: ObservedRun) {
    this.#run = run;
  }

  /** The span of the attempt that runs. */
  get span(): AttemptSpan | undefined {
    return this.#span;
  }

  /** Where work of the attempt that runs belongs in a trace; `undefined` if the task belongs to none. */
  get trace(): TraceContext | undefined {
    return this.#trace;
  }

  attemptBegan(skill: string | undefined): void {
    const { writer, telemetry } = this.#run;
    this.#attemptStart = this.#run.now();
    this.#isRecorded = false;
    this.spanEnded();
    if (writer.isStored) this.recordAttempt();
    if (telemetry?.attempt !== undefined) this.#span = telemetry.attempt(this.#described(skill));
    this.#trace = this.#span === undefined ? this.#derivedTrace() : this.#span.trace;
    writer.setTrace(this.#trace);
  }

  /** Adds the attempt to the journal, once. Call it before the commit that stores the task, unless that commit also ends it, and after. */
  recordAttempt(): void {
    if (this.#attemptStart === undefined || this.#isRecorded) return;
    this.#isRecorded = true;
    this.#run.writer.journal(this.#attempt(this.#attemptStart));
  }

  /** Call it before the commit that ends, releases or continues the task. Does nothing if no attempt runs. */
  attemptEnded(outcome: string): void {
    const start = this.#attemptStart;
    this.#attemptStart = undefined;
    const { writer } = this.#run;
    // A commit that stores the task and ends it leaves no journal.
    const isWanted = writer.isStored || writer.isInFlight;
    if (start !== undefined && isWanted) writer.journal({ ...this.#attempt(start), end: this.#run.now(), outcome });
    for (const end of this.#open?.values() ?? NONE) end(outcome);
    this.#open = undefined;
    this.#outcome ??= outcome;
  }

  /** Ends the span of the attempt. Call it after that commit, so that the span has the last events too. */
  spanEnded(): void {
    const outcome = this.#outcome ?? "lost";
    this.#outcome = undefined;
    this.#span?.end({ outcome });
    this.#span = undefined;
  }

  /** A step begins. */
  stepBegan(name: string, key: string, call?: StepCall): BegunStep {
    const { writer, telemetry } = this.#run;
    const entry = { ...this.#entry("step", key), ...(call !== undefined && { call }) };
    writer.journal(entry);
    const span = telemetry?.step?.({
      ...this.#described(writer.runner.skill),
      name,
      key,
      parent: this.#span?.trace,
      call,
    });
    if (span !== undefined)
      this.#setOpen(`step ${key}`, (outcome) => span.end({ error: new AttemptEndedFirst(outcome) }));
    return {
      trace: span === undefined ? this.#trace : span.trace,
      ended: (end) => {
        const { error, result } = "error" in end ? { ...end, result: undefined } : { ...end, error: undefined };
        const outcome = "error" in end || result?.failed === true ? "failed" : "completed";
        writer.journal({ ...entry, end: this.#run.now(), outcome, ...(result !== undefined && { result }) });
        if (span !== undefined && this.#open?.delete(`step ${key}`) === true) span.end({ error, result });
      },
    };
  }

  /** A call that a later attempt, perhaps in another process, may end. */
  opened(kind: "question" | "wait", key: string): void {
    const { writer, telemetry } = this.#run;
    writer.journal(this.#entry(kind, key));
    const name = `${kind} ${key}`;
    // A question that is asked again after an invalid answer is the same question.
    if (telemetry?.wait === undefined || this.#open?.has(name) === true) return;
    const span = telemetry.wait({ ...this.#described(writer.runner.skill), kind, key, parent: this.#trace });
    if (span !== undefined) this.#setOpen(name, (outcome) => span.end({ outcome }));
  }

  /** The end of a call that this or an earlier attempt opened. */
  closed(kind: "question" | "wait", key: string, outcome: string): void {
    this.#close({ kind, key, outcome, end: this.#run.now() });
  }

  /** The end of a sleep that was over when an attempt came to it, perhaps long ago. */
  slept(key: string, end: number): void {
    this.#close({ kind: "wait", key, outcome: "completed", end });
  }

  #close({ kind, key, outcome, end }: Omit<JournalEnd, "turn">): void {
    const { writer } = this.#run;
    if (this.#open !== undefined) {
      const name = `${kind} ${key}`;
      this.#open.get(name)?.(outcome);
      this.#open.delete(name);
    }
    writer.journal({ kind, key, turn: writer.runner.turn ?? 1, end, outcome });
  }

  #setOpen(name: string, end: (outcome: string) => void): void {
    this.#open ??= new Map();
    this.#open.set(name, end);
  }

  /** The same id that a span of the attempt has, also while nothing is traced. */
  #derivedTrace(): TraceContext | undefined {
    const { ref, runner } = this.#run.writer;
    const { turn = 1, attempt, trace } = runner;
    return trace === undefined ? undefined : attemptContext(trace, { taskId: publicTaskId(ref.id), turn, attempt });
  }

  #attempt(start: number): JournalEntry {
    return { ...this.#entry("attempt", String(this.#run.writer.runner.attempt)), start };
  }

  #entry(kind: JournalKind, key: string): JournalEntry {
    const { writer, node } = this.#run;
    const { turn = 1, attempt } = writer.runner;
    return { kind, key, turn, attempt, node, start: this.#run.now() };
  }

  #described(skill: string | undefined): AttemptStart {
    const { ref, runner } = this.#run.writer;
    const { turn = 1, attempt, trace } = runner;
    const { id, contextId, scope } = ref;
    return { taskId: publicTaskId(id), contextId, agent: scope.agent, trace, turn, attempt, skill };
  }
}

const NONE: readonly never[] = [];
