import { parseOwnJson } from "../../internal/own-json.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import { namedRequests } from "../../protocol/input-request.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { readEvent, readMessage } from "../../protocol/serial.ts";
import type { HistoryEntry, StepRecord, Store, TaskRecord } from "../../store/contract.ts";
import type { Agent, Skill } from "../agent/agent.ts";
import { dataOf } from "../agent/output.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { foldLog } from "../read/fold-log.ts";
import { isStatusBody } from "../read/log-view.ts";
import { readLog } from "../read/read-log.ts";
import { FIRST_START, isTooLate, type RunnerRecord, readRunner } from "../record/runner-record.ts";
import { answersIn, firstAccepted } from "./answer.ts";
import { Memory } from "./memory.ts";
import { Replay } from "./replay.ts";
import type { AttemptStart, Run } from "./run.ts";
import { openSealed, type Sealer } from "./seal.ts";

/** Where the message of a turn is kept that must not be in the history. */
const SEALED_TURN = "turn";

/** The data a skill's handler gets: what its schema makes of the message, else the message's own. */
export async function dataFor(skill: Skill | undefined, message: Message): Promise<unknown> {
  if (skill?.input !== undefined) {
    const checked = await firstAccepted(skill.input, answersIn(message));
    if (checked.ok) return checked.value;
  }
  return dataOf(message.parts);
}

/** Takes the next unread message as a new turn of a task whose run has returned. `undefined`: it turned out that there is none. */
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
    // It answers a question that was answered already: no reason for another turn.
    writer.consume(entry, entry.sealed ? undefined : message);
    return undefined;
  }
  if (message === undefined) {
    // Sealed with a secret that is not known any more: there is nothing to be done about it.
    writer.consume(entry, undefined);
    return undefined;
  }
  const skill = skillNamed(agent, message) ?? skillOf(agent, writer.runner.skill);
  const data = await dataFor(skill, message);
  const record = await store.get(id, { artifacts: false });
  const history = (record?.history ?? []).map((kept) => readMessage(kept.body));
  const artifacts = await foldLog(store, id, writer.seq);
  writer.consume(entry, entry.sealed ? undefined : message);
  writer.forgetSteps();
  const steps: StepRecord[] = entry.sealed ? [{ key: SEALED_TURN, value: JSON.stringify({ sealed: entry.body }) }] : [];
  for (const step of steps) writer.remember(step);
  writer.updateHead({
    runner: {
      ...FIRST_START,
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
  readonly store: Store;
  readonly sealer: Sealer;
  /** What is still remembered; empty where everything is to be done again. */
  readonly steps: readonly StepRecord[];
}

/** The turn that an earlier attempt was at work on, to be begun once more. `undefined`: its message is not to be had any more. */
export async function prepareReplay(options: ResumeOptions): Promise<AttemptStart | undefined> {
  const { agent, writer, record, store, sealer, steps } = options;
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
  const replay = await Replay.read({
    entries: (after, upTo) => readLog(store, record.id, { after, upTo }),
    turnAfter: runner.turnAfter,
    upTo: record.seq,
    isRemembered: (step) => memory.recall(step)?.kind === "done",
  });
  const { before, during } = historyAround(record, runner);
  // What was taken in and then forgotten was said all the same: the next attempt finds it in the history.
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
      artifacts: await foldLog(store, record.id, runner.turnAfter),
    },
    skill,
    steps: steps.filter(({ key }) => key !== SEALED_TURN),
    replay,
  };
}

/** Whether the log or the steps hold more than when the run was last started. */
export function hasProgressed({ seq, head }: TaskRecord, steps: readonly StepRecord[]): boolean {
  const { startSeq, startSteps = 0, turnAfter } = readRunner(head.runner);
  // A new task is moved to `working` by the engine; that is none of its run's doing.
  return seq > (startSeq ?? Math.max(turnAfter, 1)) || countSteps(steps) > startSteps;
}

/** How many steps the run itself has left behind. */
export function countSteps(steps: readonly StepRecord[]): number {
  return steps.some(({ key }) => key === SEALED_TURN) ? steps.length - 1 : steps.length;
}

/** The artifacts in a log, and whether the last chunk of each is marked as the last. */
export async function loggedArtifacts(store: Store, record: TaskRecord): Promise<Map<ArtifactId, boolean>> {
  const artifacts = new Map<ArtifactId, boolean>();
  for await (const { body } of readLog(store, record.id, { after: 0, upTo: record.seq })) {
    if (isStatusBody(body)) continue;
    const event = readEvent(body);
    if (event.kind === "artifact") artifacts.set(event.artifact.artifactId, event.lastChunk);
  }
  return artifacts;
}

function turnMessage({ record, sealer, steps }: ResumeOptions): Message | undefined {
  const { turnInbox } = readRunner(record.head.runner);
  const entry = record.history.find((kept) => kept.inbox === turnInbox);
  if (entry !== undefined) return readMessage(entry.body);
  const sealed = steps.find(({ key }) => key === SEALED_TURN);
  const text =
    sealed === undefined
      ? undefined
      : openSealed(sealer, parseOwnJson<{ sealed: string }>(sealed.value).sealed, record.id);
  return text === undefined ? undefined : readMessage(text);
}

/** What was said before this turn, and since it began. A turn that was begun by a sealed message has no entry of its own. */
function historyAround(
  { history }: TaskRecord,
  runner: RunnerRecord,
): { readonly before: readonly HistoryEntry[]; readonly during: readonly HistoryEntry[] } {
  const own = history.findIndex((entry) => entry.inbox === runner.turnInbox);
  if (own !== -1) return { before: history.slice(0, own), during: history.slice(own + 1) };
  const since = history.findIndex((entry) => entry.after > runner.turnAfter);
  return since === -1
    ? { before: history, during: [] }
    : { before: history.slice(0, since), during: history.slice(since) };
}

function namesIn(message: Message): readonly string[] {
  return namedRequests(message).map(({ id }) => id);
}

function messagesOf(entries: readonly HistoryEntry[]): Message[] {
  return entries.map((entry) => readMessage(entry.body));
}

function skillOf(agent: Agent, id: string | undefined): Skill | undefined {
  return id === undefined ? undefined : agent.skills?.find((skill) => skill.id === id);
}

/** The skill that a message names, or else the request it came with. */
export function skillNamed(agent: Agent, message: Message, metadata: JsonObject = {}): Skill | undefined {
  const id = message.metadata?.["skillId"] ?? metadata["skillId"];
  return typeof id === "string" ? skillOf(agent, id) : undefined;
}
