import { parseOwnJson } from "../../internal/own-json.ts";
import type { CallPath } from "../../protocol/call-path.ts";
import type { Ancestry } from "../../protocol/calls/ancestry.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { ANONYMOUS, type Principal } from "../../protocol/principal.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";

/**
 * Everything another process needs to start a run again. Stored as one JSON text beside the task's status; member names are therefore
 * never changed (see {@link StoredRunner}). All times are milliseconds of the store's clock.
 */
export interface RunnerRecord {
  /** The number of the current turn. Absent: 1. */
  readonly turn?: number | undefined;
  /** How many times the author's function was started in this turn. */
  readonly attempt: number;
  /**
   * 1, plus 1 for each start in a row that crashed while no other task ran on the node and that committed nothing new. `maxAttempts` limits
   * this number.
   */
  readonly tries: number;
  /** Starts of this turn that crashed, whatever they committed. */
  readonly crashes?: number | undefined;
  /** Crashes in a row without a new commit in between, whether other tasks ran or not. */
  readonly idleCrashes?: number | undefined;
  /** Number of the recovery group in which the task was last started after a crash; later groups have higher numbers. */
  readonly round?: number | undefined;
  /** After a crash: the task was started while no other task ran on its node, and no task was started there since. */
  readonly alone?: boolean | undefined;
  /** The task's seq at the last restart of this turn; a higher seq means progress. Absent during the first start. */
  readonly startSeq?: number | undefined;
  /** The number of steps at the last restart of this turn; more steps mean progress. */
  readonly startSteps?: number | undefined;
  /** The process released the run at a shutdown: the next start is not a restart after a crash. */
  readonly released?: boolean | undefined;
  /** The seq at which the current turn began. */
  readonly turnAfter: number;
  /** Id of the inbox entry whose message started this turn. Absent: the task's first message. */
  readonly turnInbox?: string | undefined;
  /** Id of the skill that handles the task. */
  readonly skill?: string | undefined;
  /** When the run times out. Time spent waiting for the caller or sleeping is added. */
  readonly deadline?: number | undefined;
  /** When the task fails in any case: the limit the caller set. It never moves. */
  readonly limitAt?: number | undefined;
  /** Since when the run waits for the caller or sleeps. */
  readonly pausedAt?: number | undefined;
  /** Seq of the last status event with an interrupted state (`input-required`, `auth-required`); 0: none. */
  readonly interruptedAt: number;
  /** Open and answered questions. Absent before the first question. */
  readonly questions?: Questions | undefined;
  readonly caller?: Principal;
  readonly metadata?: JsonObject;
  readonly outputModes?: readonly string[];
  readonly extensions?: readonly string[];
  /** Where the call that created the task belongs in a distributed trace. */
  readonly trace?: TraceContext | undefined;
  /** The agents that the task's messages passed through. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The tasks that led to this one. Absent: no agent has called it. */
  readonly ancestry?: Ancestry | undefined;
  /** Called tasks that are canceled when this one ends. Absent: none. */
  readonly children?: readonly OpenChild[] | undefined;
  /**
   * Ids of the last sealed inbox entries that the run consumed. A sealed message leaves no trace in the history, so a repetition is recognised
   * by this list.
   */
  readonly consumedSealed?: readonly string[] | undefined;
  /** Bytes of the log. */
  readonly bytes: number;
}

/** The stored form: `consumedSealed` is stored as `unkept`. Earlier releases stored only the trace id. */
interface StoredRunner extends Omit<RunnerRecord, "consumedSealed"> {
  readonly unkept?: readonly string[] | undefined;
  readonly traceId?: string | undefined;
}

/** Stands for the parent span of a task that an earlier release created: its id was not stored. */
const UNKNOWN_SPAN = "0000000000000000";

/** Resets the counters of the turn before at the first start of a turn. */
export const FIRST_START: Partial<RunnerRecord> = {
  attempt: 1,
  tries: 1,
  crashes: undefined,
  idleCrashes: undefined,
  round: undefined,
  alone: undefined,
  startSeq: undefined,
  startSteps: undefined,
};

/** How a called agent is found again after a restart: the id of a hosted agent, or the URL of a remote one. */
export type CalleeAddress =
  | { readonly agent: string; readonly url?: never }
  | { readonly url: string; readonly agent?: never };

/** A called task that is canceled when the task that called it ends. */
export interface OpenChild {
  /** Key of the call in the memory of its turn. */
  readonly key: string;
  readonly address: CalleeAddress;
  /** Absent: the agent had not answered yet. */
  readonly taskId?: string;
  readonly messageId: string;
  readonly contextId?: string;
}

export interface Questions {
  /** In the order they were asked. */
  readonly open: readonly PendingQuestion[];
  /** Request ids of the last 100 questions that were answered or closed. */
  readonly answered: readonly string[];
}

/** An open question, as stored for all nodes. */
export interface PendingQuestion {
  /** The request id that an answer refers to. */
  readonly id: string;
  /** Ids of tool calls and authorisation requests in the question's parts; an answer may refer to them as well. */
  readonly aliases?: readonly string[];
  /** The beginning of the question's text. */
  readonly prompt: string;
  /** The name that the agent's author gave the question. */
  readonly name?: string;
  /** The question asks for an authorisation. */
  readonly auth?: boolean;
  /** The answer must be stored encrypted only. */
  readonly sensitive?: boolean;
  /** The question asks to approve a tool call, or relays another agent's request for an authorisation. */
  readonly approval?: boolean;
  /** Ids of inbox entries that arrived before the question: they do not answer it. */
  readonly before?: readonly string[];
}

/** Whether `name` is the question's request id or one of its aliases. */
export function isNamed({ id, aliases }: Pick<PendingQuestion, "id" | "aliases">, name: string): boolean {
  return id === name || aliases?.includes(name) === true;
}

const MAX_ANSWERED = 100;

/** Appends request ids to `Questions.answered` and keeps the last 100. */
export function withAnswered(before: readonly string[], ids: readonly string[]): readonly string[] {
  return [...before, ...ids].slice(-MAX_ANSWERED);
}

/** Whether all questions that a message refers to were answered by other messages. */
export function isTooLate(names: readonly string[], questions: Questions | undefined): boolean {
  return names.length > 0 && names.every((name) => questions?.answered.includes(name) === true);
}

/** Clients retry a message soon, so a short list is enough. */
const MAX_CONSUMED_SEALED = 20;

/** Appends an entry id to `RunnerRecord.consumedSealed` and keeps the last 20. */
export function withConsumedSealed(before: readonly string[] = [], id: string): readonly string[] {
  return [...before, id].slice(-MAX_CONSUMED_SEALED);
}

/** The earlier of the run's deadline and the caller's limit. */
export function firstTimeOut({ deadline, limitAt }: RunnerRecord): number | undefined {
  return deadline === undefined ? limitAt : Math.min(deadline, limitAt ?? deadline);
}

export function callerOf(record: RunnerRecord): Principal {
  return record.caller ?? ANONYMOUS;
}

/** As `writeRunner`, at a third of the cost, and only the members that an ended task keeps: nothing that only a restart needs. */
export function writeLastRunner(
  { attempt, tries, turnAfter, interruptedAt, consumedSealed, trace }: RunnerRecord,
  bytes: number,
): string {
  let text = `{"attempt":${attempt},"tries":${tries},"turnAfter":${turnAfter},"interruptedAt":${interruptedAt},"bytes":${bytes}`;
  if (consumedSealed !== undefined) text += `,"unkept":${JSON.stringify(consumedSealed)}`;
  if (trace !== undefined) text += `,"trace":${writeTrace(trace)}`;
  return `${text}}`;
}

function writeTrace(trace: TraceContext): string {
  if (trace.state !== undefined) return JSON.stringify(trace);
  // Ids have nothing to be escaped.
  return `{"traceId":"${trace.traceId}","spanId":"${trace.spanId}","flags":${trace.flags}}`;
}

export function writeRunner(record: RunnerRecord): string {
  if (record.consumedSealed === undefined) return JSON.stringify(record);
  const { consumedSealed, ...rest } = record;
  const stored: StoredRunner = { ...rest, unkept: consumedSealed };
  return JSON.stringify(stored);
}

export function readRunner(text: string): RunnerRecord {
  const stored = parseOwnJson<StoredRunner>(text);
  if (stored.unkept === undefined && stored.traceId === undefined) return stored;
  const { unkept, traceId, ...rest } = stored;
  return {
    ...rest,
    ...(unkept !== undefined && { consumedSealed: unkept }),
    ...(traceId !== undefined && { trace: { traceId, spanId: UNKNOWN_SPAN, flags: 1 } }),
  };
}
