import { parseOwnJson } from "../../internal/own-json.ts";
import type { CallPath } from "../../protocol/call-path.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { ANONYMOUS, type Principal } from "../../protocol/principal.ts";

/**
 * What must be known of a run to start it again in another process. Kept as one JSON text beside the task's status. All
 * times are the store's.
 */
export interface RunnerRecord {
  /** How often the author's function was started in this turn. */
  readonly attempt: number;
  /**
   * Which try in a row this start is: 1, and one more for each start that ended in a crash while the task was alone, with nothing new committed.
   * `maxAttempts` limits these.
   */
  readonly tries: number;
  /** Starts of this turn that ended in a crash, whatever they committed. */
  readonly crashes?: number | undefined;
  /** Crashes in a row with nothing new committed in between, whether alone or not. */
  readonly idleCrashes?: number | undefined;
  /** The group in which it was last started after a crash. */
  readonly round?: number | undefined;
  /** After a crash: it was started with nothing else at work on its node, and nothing was started since. */
  readonly alone?: boolean | undefined;
  /** The seq and the number of steps at the last start but the turn's first: anything beyond is new. */
  readonly startSeq?: number | undefined;
  readonly startSteps?: number | undefined;
  /** The process let go of the run in good order (a shutdown): its next start counts as no crash. */
  readonly released?: boolean | undefined;
  /** The seq at which the current turn began. */
  readonly turnAfter: number;
  /** The inbox entry whose message started this turn; absent: the task's first message. */
  readonly turnInbox?: string | undefined;
  readonly skill?: string | undefined;
  /** When the task must be done; moves on by the time it spends waiting for the caller. */
  readonly deadline?: number | undefined;
  /** When the task fails whatever it does: the limit that its caller gave. It never moves. */
  readonly limitAt?: number | undefined;
  /** Since when it waits for the caller or sleeps. */
  readonly pausedAt?: number | undefined;
  /** The last status event that waits for the caller. */
  readonly interruptedAt: number;
  /** The questions of the task that wait for an answer, and those that did. Absent before the first one. */
  readonly questions?: Questions | undefined;
  readonly caller?: Principal;
  readonly metadata?: JsonObject;
  readonly outputModes?: readonly string[];
  readonly extensions?: readonly string[];
  /** The trace of the request that made the task. */
  readonly traceId?: string | undefined;
  /** The agents that the task's messages have passed. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** Inbox entries that were taken and left nothing in the history, being secret; so that their repetition is known. */
  readonly unkept?: readonly string[] | undefined;
  /** Bytes of the log. */
  readonly bytes: number;
}

/** What the first start of a turn changes of what was counted before. */
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
export interface Questions {
  /** In the order they were asked. */
  readonly open: readonly PendingQuestion[];
  /** Request ids of the last questions that were answered or closed. */
  readonly answered: readonly string[];
}

/** An open question, as every node knows it. */
export interface PendingQuestion {
  /** The request id that answers name. */
  readonly id: string;
  /** Ids of tool uses and authorisation requests in its parts, which name it as well. */
  readonly aliases?: readonly string[];
  /** The beginning of its text. */
  readonly prompt: string;
  /** It asks for an authorisation. */
  readonly auth?: boolean;
  /** The answer must not be kept in the clear. */
  readonly sensitive?: boolean;
  /** It asks to approve the use of a tool, or relays a request for an authorisation. */
  readonly approval?: boolean;
  /** Inbox entries that arrived before the question. */
  readonly before?: readonly string[];
}

/** Whether an answer that names this id is for the question. */
export function isNamed({ id, aliases }: Pick<PendingQuestion, "id" | "aliases">, name: string): boolean {
  return id === name || aliases?.includes(name) === true;
}

const MAX_ANSWERED = 100;

/** The last few request ids. */
export function withAnswered(before: readonly string[], ids: readonly string[]): readonly string[] {
  return [...before, ...ids].slice(-MAX_ANSWERED);
}

/** Whether a message names only questions that were answered by others meanwhile, so that nothing is left for it to answer. */
export function isTooLate(names: readonly string[], questions: Questions | undefined): boolean {
  return names.length > 0 && names.every((name) => questions?.answered.includes(name) === true);
}

/** Who repeats a message does so soon. */
const MAX_UNKEPT = 20;

/** The last few. */
export function withUnkept(before: readonly string[] = [], id: string): readonly string[] {
  return [...before, id].slice(-MAX_UNKEPT);
}

/** When the first of the task's time limits is reached, if it goes on working. */
export function firstTimeOut({ deadline, limitAt }: RunnerRecord): number | undefined {
  return deadline === undefined ? limitAt : Math.min(deadline, limitAt ?? deadline);
}

export function callerOf(record: RunnerRecord): Principal {
  return record.caller ?? ANONYMOUS;
}

/** What is kept of a run whose task has ended: nobody will start it again. */
export function lastRunner(
  { attempt, tries, turnAfter, interruptedAt, unkept }: RunnerRecord,
  bytes: number,
): RunnerRecord {
  return { attempt, tries, turnAfter, interruptedAt, bytes, ...(unkept !== undefined && { unkept }) };
}

export function writeRunner(record: RunnerRecord): string {
  return JSON.stringify(record);
}

export function readRunner(text: string): RunnerRecord {
  return parseOwnJson<RunnerRecord>(text);
}
