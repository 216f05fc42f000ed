import { parseOwnJson } from "../../internal/own-json.ts";
import { namedRequests } from "../../protocol/input-request.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage } from "../../protocol/serial.ts";
import type { HistoryEntry, StepRecord, Store, TaskRecord } from "../../store/contract.ts";
import type { Agent, Skill } from "../agent/agent.ts";
import { dataOf } from "../agent/output.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { foldLog } from "../read/fold-log.ts";
import { readInboxMessage } from "../record/inbox-message.ts";
import { FIRST_START, isTooLate, type RunnerRecord, readRunner } from "../record/runner-record.ts";
import { openSealed, type Sealer } from "../record/seal.ts";
import type { LoggedTurn } from "./logged-turn.ts";
import { Memory } from "./memory.ts";
import { answersIn, firstAccepted } from "./questions/answer.ts";
import type { Run } from "./run.ts";
import type { AttemptStart } from "./run-environment.ts";

/** The step key that stores the message of a turn if it is sealed and so must not be in the history. */
const SEALED_TURN = "turn";

/** The data for a skill: the message as the skill's schema validates it; without a valid value, or a schema, the data of the message. */
export async function dataFor(skill: Skill | undefined, message: Message): Promise<unknown> {
  if (skill?.input !== undefined) {
    const checked = await firstAccepted(skill.input, answersIn(message));
    if (checked.ok) return checked.value;
  }
  return dataOf(message.parts);
}

/** Consumes the next message in the inbox as a new turn of a task whose run has returned. `undefined`: no message needs a turn. */
export async function prepareNextTurn(run: Run, store: Store): Promise<AttemptStart | undefined> {
  const { writer, agent } = run;
  const { id } = writer.ref;
  await writer.flush();
  for (const entry of await store.inbox(id)) writer.deliver(entry);
  const entry = writer.inbox.find((waiting) => waiting.kind === "message");
  if (entry === undefined) return undefined;
  const message = run.openEntry(entry);
  const { questions } = writer.runner;
  if (message !== undefined && isTooLate(namesIn(message), questions)) {
    // The message answers a question that is closed already, so it needs no turn.
    writer.consume(entry, entry.sealed ? undefined : message);
    return undefined;
  }
  if (message === undefined) {
    // The message is sealed with a secret that is not known any more, so it cannot be read.
    writer.consume(entry, undefined);
    return undefined;
  }
  const skill = skillNamed(agent, message) ?? skillOf(agent, writer.runner.skill);
  const data = await dataFor(skill, message);
  const record = await store.get(id, { artifacts: false });
  const history = (record?.history ?? []).map(({ body }) => readMessage(body));
  const artifacts = await foldLog(store, id, writer.seq);
  writer.consume(entry, entry.sealed ? undefined : message);
  writer.forgetSteps();
  const steps: StepRecord[] = entry.sealed ? [{ key: SEALED_TURN, value: JSON.stringify({ sealed: entry.body }) }] : [];
  for (const step of steps) writer.remember(step);
  writer.updateHead({
    runner: {
      ...FIRST_START,
      turn: (writer.runner.turn ?? 1) + 1,
      turnAfter: writer.seq,
      turnInbox: entry.id,
      skill: skill?.id,
      questions: questions && { open: [], answered: questions.answered },
    },
    active: true,
    wakeAt: undefined,
  });
  return {
    turn: { message, data, skillId: skill?.id, history: [...history, message], consumed: new Map(), artifacts },
    skill,
    steps: [],
    replay: undefined,
  };
}

export interface ResumeOptions {
  readonly agent: Agent;
  readonly writer: TaskLogWriter;
  readonly record: TaskRecord;
  readonly logged: LoggedTurn;
  readonly sealer: Sealer;
  /** The stored results; empty if everything must be done again. */
  readonly steps: readonly StepRecord[];
}

/** Prepares another attempt of the turn that an earlier attempt did not finish. `undefined`: its message cannot be read any more. */
export async function prepareReplay(options: ResumeOptions): Promise<AttemptStart | undefined> {
  const { agent, writer, record, logged, sealer, steps } = options;
  const runner = readRunner(record.head.runner);
  const message = turnMessage(options);
  if (message === undefined) return undefined;
  const skill = skillOf(agent, runner.skill);
  const memory = new Memory({
    writer,
    sealer,
    steps: steps.filter(({ key }) => key !== SEALED_TURN),
    maxSteps: Number.POSITIVE_INFINITY,
  });
  const { before, during } = historyAround(record, runner);
  // Messages that were consumed but whose results were forgotten must be in the history from the beginning.
  const isForgotten = (entry: HistoryEntry): boolean => entry.inbox !== undefined && !memory.holds(entry);
  return {
    turn: {
      message,
      data: await dataFor(skill, message),
      skillId: runner.skill,
      history: [...messagesOf(before), message, ...messagesOf(during.filter(isForgotten))],
      consumed: new Map(
        during.flatMap(({ inbox, body }) => (inbox === undefined ? [] : [[inbox, readMessage(body)] as const])),
      ),
      artifacts: logged.artifacts,
    },
    skill,
    steps: steps.filter(({ key }) => key !== SEALED_TURN),
    replay: logged.replay,
  };
}

/** Whether an event or a step was stored since the run was last started. */
export function hasProgressed({ seq, head }: Pick<TaskRecord, "seq" | "head">, steps: readonly StepRecord[]): boolean {
  const { startSeq, startSteps = 0, turnAfter } = readRunner(head.runner);
  // The first event of a new task is the engine's status `working`, which is no progress of the run.
  return seq > (startSeq ?? Math.max(turnAfter, 1)) || countSteps(steps) > startSteps;
}

/** How many of these the run itself has stored. */
export function countSteps(steps: readonly StepRecord[]): number {
  return steps.some(({ key }) => key === SEALED_TURN) ? steps.length - 1 : steps.length;
}

function turnMessage({ record, sealer, steps }: ResumeOptions): Message | undefined {
  const { turnInbox } = readRunner(record.head.runner);
  const entry = record.history.find(({ inbox }) => inbox === turnInbox);
  if (entry !== undefined) return readMessage(entry.body);
  const sealed = steps.find(({ key }) => key === SEALED_TURN);
  const text =
    sealed === undefined
      ? undefined
      : openSealed(sealer, parseOwnJson<{ sealed: string }>(sealed.value).sealed, record.id);
  return text === undefined ? undefined : readInboxMessage(text).message;
}

/** The messages before this turn, and those since it began. The sealed message of a turn is in neither, because it is not in the history. */
function historyAround(
  { history }: TaskRecord,
  runner: RunnerRecord,
): { readonly before: readonly HistoryEntry[]; readonly during: readonly HistoryEntry[] } {
  const first = history.findIndex((entry) => entry.inbox === runner.turnInbox);
  if (first !== -1) return { before: history.slice(0, first), during: history.slice(first + 1) };
  const since = history.findIndex((entry) => entry.after > runner.turnAfter);
  return since === -1
    ? { before: history, during: [] }
    : { before: history.slice(0, since), during: history.slice(since) };
}

function namesIn(message: Message): readonly string[] {
  return namedRequests(message).map(({ id }) => id);
}

function messagesOf(entries: readonly HistoryEntry[]): Message[] {
  return entries.map(({ body }) => readMessage(body));
}

function skillOf(agent: Agent, id: string | undefined): Skill | undefined {
  return id === undefined ? undefined : agent.skills?.find((skill) => skill.id === id);
}

/** The skill that the metadata of a message names (`skillId`), or else that of its request. */
export function skillNamed(agent: Agent, message: Message, metadata: JsonObject = {}): Skill | undefined {
  const id = message.metadata?.["skillId"] ?? metadata["skillId"];
  return typeof id === "string" ? skillOf(agent, id) : undefined;
}
