import { isoTime } from "../../internal/iso-time.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import { NO_CALL_PATH } from "../../protocol/call-path.ts";
import { type Ancestry, CALLS } from "../../protocol/calls/ancestry.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { writeMessage, writeStatus } from "../../protocol/serial.ts";
import { namedTask, publicTaskId } from "../../protocol/task-key.ts";
import type { TaskCreate } from "../../store/contract.ts";
import type { Agent } from "../agent/agent.ts";
import type { Submission, Submitted, TaskRef } from "../api.ts";
import { startRelations } from "../call/child-tasks.ts";
import { mergeMetadata } from "../log/task-metadata.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import type { RunnerRecord } from "../record/runner-record.ts";
import type { Run } from "../run/run.ts";
import { findEarlierTask, type Idempotency } from "./idempotency.ts";
import { checkSize } from "./message-size.ts";
import { refusedTask } from "./refused-task.ts";
import type { Routed } from "./route.ts";
import { MessageTicket } from "./ticket.ts";

/** Milliseconds; see `AgentDefinition.timeout`. */
const DEFAULT_TIMEOUT = 60 * 60 * 1000;

/** The agent's `reply` answered the message: the task is created completed, with the reply as its result. */
export interface Answered {
  readonly kind: "answered";
  readonly parts: readonly Part[];
}

export interface NewTask {
  readonly submission: Submission;
  readonly routed: Routed | Answered;
  readonly idempotency: Idempotency | undefined;
}

/**
 * Creates a task for a message and starts its run. The run may end before the task is stored. A task that is idempotent, or whose id the caller
 * chose, is stored before its run starts: only the store knows whether another node already created a task for the same message, or with the
 * same id. Rejects with `TaskIdTaken` in the second case.
 */
export function createTask(parts: EngineParts, agent: Agent, task: NewTask): Submitted | Promise<Submitted> {
  const { submission, idempotency } = task;
  const { run, feed, start } = openTask(parts, agent, task);
  if (idempotency !== undefined || submission.request.message.taskId !== undefined)
    return storeFirst(parts, submission, { run, feed, start, idempotency });
  start();
  return { kind: "task", ticket: new MessageTicket(parts, feed, { writer: run.writer }) };
}

async function storeFirst(
  parts: EngineParts,
  submission: Submission,
  { run, feed, start, idempotency }: Opened & { readonly idempotency: Idempotency | undefined },
): Promise<Submitted> {
  const { writer } = run;
  const stored = writer.flush();
  start(stored);
  try {
    await stored;
    return { kind: "task", ticket: new MessageTicket(parts, feed, { writer }) };
  } catch (cause) {
    // The store may refuse the task id that the caller chose (`duplicate`) before it compares the message id (`repeated`).
    const status = writer.loss?.kind === "refused" ? writer.loss.status : "full";
    // The feed is of a task that does not exist: the next reader gets the one of the other node's task.
    if (status === "duplicate") feed.isGone = true;
    const mayBeRepeated = idempotency !== undefined && status !== "full";
    const earlier = mayBeRepeated ? await findEarlierTask(parts, submission, idempotency) : undefined;
    if (earlier === undefined) throw refusedTask(writer.loss, cause);
    return { kind: "task", ticket: earlier };
  }
}

interface Opened {
  readonly run: Run;
  readonly feed: Feed;
  /** Starts the run now, or when `ready` resolves. */
  readonly start: (ready?: Promise<void>) => void;
}

function openTask(parts: EngineParts, agent: Agent, { submission, routed, idempotency }: NewTask): Opened {
  const { runs, feeds, environment } = parts;
  const { scope, call } = submission;
  const incoming = submission.request.message;
  const now = environment.clock.now();
  // Safe casts: the server creates task ids, and context ids unless the caller sent one.
  const ref: TaskRef = {
    id: incoming.taskId === undefined ? (uuidv7(now) as TaskId) : namedTask(scope, incoming.taskId),
    contextId: incoming.contextId ?? (uuidv7(now) as ContextId),
    scope,
    dialect: call.dialect,
  };
  const message: Message = { ...incoming, taskId: publicTaskId(ref.id), contextId: ref.contextId };
  const body = writeMessage(message);
  checkSize(environment.limits, body);
  const status = writeStatus({ state: "submitted", timestamp: isoTime(now) });
  const skill = routed.kind === "skill" ? routed.skill : undefined;
  const metadata = call.ancestry === undefined ? undefined : relationsMetadata(call.ancestry);
  const feed = feeds.open(ref, {
    createdAt: now,
    seq: 0,
    state: "submitted",
    status,
    metadata,
    interruptedAt: 0,
    questions: undefined,
  });
  feed.origin = { status, message: body };
  const run = runs.open(agent, feed, {
    ref,
    epoch: 1,
    seq: 0,
    head: {
      state: "submitted",
      status,
      statusAt: now,
      runner: "",
      active: true,
      ...(metadata !== undefined && { metadata }),
    },
    runner: firstRunner(agent, submission, { now, skill: skill?.id }),
    knownArtifacts: [],
    historyLength: 0,
    create: {
      message: body,
      streams: submission.request.operation === "stream",
      record: recordOf(parts.node, ref, { submission, idempotency, at: now }),
    },
  });
  if (routed.kind === "answered") return { run, feed, start: () => void runs.end(run, "completed", routed.parts) };
  if (routed.kind === "none")
    return { run, feed, start: () => void runs.end(run, "rejected", [{ text: routed.reason }]) };
  const data = routed.kind === "skill" ? routed.data : message.parts.find((part) => part.data !== undefined)?.data;
  const turn = { message, data, skillId: skill?.id, history: [message], consumed: NOTHING_CONSUMED, artifacts: [] };
  return { run, feed, start: (ready) => runs.begin(run, { turn, skill, steps: [], replay: undefined }, ready) };
}

/** Shows who has called the task. Safe cast: relations are plain JSON. */
function relationsMetadata(ancestry: Ancestry): string | undefined {
  return mergeMetadata(undefined, { [CALLS]: startRelations(ancestry) as unknown as JsonObject });
}

const NOTHING_CONSUMED: ReadonlyMap<string, Message> = new Map();

interface Creation {
  readonly submission: Submission;
  readonly idempotency: Idempotency | undefined;
  readonly at: number;
}

function recordOf(
  node: string,
  { contextId, scope, dialect }: TaskRef,
  { submission, idempotency, at }: Creation,
): TaskCreate {
  const { request, webhook, call } = submission;
  const { message } = request;
  return {
    contextId,
    contextShared: message.contextId !== undefined,
    scope,
    dialect,
    at,
    node,
    ...((request.operation === "stream" || idempotency !== undefined) && { messageId: message.messageId }),
    ...(idempotency !== undefined && { idempotency }),
    ...(webhook !== undefined && { webhook: webhook.draft }),
    ...parentOf(call.ancestry),
  };
}

/** The calling task, if it is certain: nobody may enter a task into the tree of somebody else. Safe casts: the ids are of tasks. */
function parentOf(ancestry: Ancestry | undefined): Pick<TaskCreate, "parent" | "root"> {
  if (ancestry?.verified !== true) return {};
  return { parent: ancestry.parent as TaskId, root: ancestry.root as TaskId };
}

function firstRunner(
  agent: Agent,
  submission: Submission,
  { now, skill }: { readonly now: number; readonly skill: string | undefined },
): RunnerRecord {
  const { timeout = DEFAULT_TIMEOUT } = agent;
  const { principal: caller, activeExtensions: extensions, trace, callPath = NO_CALL_PATH, ancestry } = submission.call;
  const { metadata, outputModes, timeoutMs } = submission.request;
  const limitAt = earlier(timeoutMs === undefined ? undefined : now + timeoutMs, ancestry?.deadline);
  return {
    attempt: 1,
    tries: 1,
    turnAfter: 0,
    interruptedAt: 0,
    bytes: 0,
    ...(skill !== undefined && { skill }),
    ...(Number.isFinite(timeout) && { deadline: now + timeout }),
    ...(limitAt !== undefined && { limitAt }),
    ...(!(caller.anonymous && caller.claims === undefined) && { caller }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(outputModes.length > 0 && { outputModes }),
    ...(extensions.length > 0 && { extensions }),
    ...(trace !== undefined && { trace }),
    ...(callPath.length > 0 && { callPath }),
    ...(ancestry !== undefined && { ancestry }),
  };
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
