import { isoTime } from "../internal/iso-time.ts";
import { uuidv7 } from "../internal/uuid.ts";
import { A2AError, invalidField } from "../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { Part } from "../protocol/part.ts";
import { writeMessage, writeStatus } from "../protocol/serial.ts";
import { namedTask, otherTaskKey, publicTaskId, taskKey } from "../protocol/task-key.ts";
import { type Agent, type ReplyCall, TaskAborted } from "./agent.ts";
import type { Submission, Submitted, TaskRef } from "./api.ts";
import type { EngineParts } from "./engine.ts";
import type { Feed } from "./feed.ts";
import { toParts } from "./output.ts";
import { type Routed, routeMessage } from "./route.ts";
import { callHook } from "./run.ts";
import type { RunnerRecord } from "./runner-record.ts";
import { ticketOf } from "./ticket.ts";
import { traceIdOf } from "./trace.ts";

const DEFAULT_TIMEOUT = 60 * 60 * 1000;

/** Takes in one message: see `Engine.submit`. */
export async function submit(parts: EngineParts, submission: Submission): Promise<Submitted> {
  const agent = parts.agents.get(submission.scope.agent);
  if (agent === undefined)
    throw new A2AError("internal", "Internal error", { cause: `no agent ${submission.scope.agent}` });
  const { message, namesTask, tasksOnly } = submission;
  if (message.taskId !== undefined) {
    const known = await findTask(parts, submission, message.taskId);
    if (known !== undefined) return continueTask(parts, submission, known);
    if (namesTask !== true) throw taskNotFound(message.taskId);
  }
  const call = new SubmissionCall(submission);
  const reply = await replyOf(parts, agent, { submission, call });
  if (reply !== undefined && tasksOnly !== true) return { kind: "message", message: reply };
  requireRoom(parts, agent);
  const routed = reply === undefined ? await routeOf(parts, agent, { submission, call }) : answered(reply);
  // Others may have come in while this one was being routed.
  requireRoom(parts, agent);
  const meanwhile =
    message.taskId === undefined ? undefined : parts.feeds.peek(namedTask(submission.scope, message.taskId));
  if (meanwhile !== undefined) return continueTask(parts, submission, parts.feeds.hold(meanwhile));
  return createTask(parts, agent, { submission, routed });
}

function requireRoom(parts: EngineParts, agent: Agent): void {
  if (parts.runs.hasRoom(agent)) return;
  throw new A2AError("resource-exhausted", "The agent has as much to do as it may; try again later.", {
    retryAfter: 5,
  });
}

async function routeOf(
  parts: EngineParts,
  agent: Agent,
  { submission, call }: { readonly submission: Submission; readonly call: ReplyCall },
): Promise<Routed> {
  try {
    return await routeMessage(agent, submission.message, call);
  } catch (error) {
    throw authorFailed(parts, error, { agent, what: "route() failed" });
  }
}

/** The author's own function failed before there was a task: the log and the host learn why, the caller only that it did. */
function authorFailed(
  parts: EngineParts,
  error: unknown,
  { agent, what }: { readonly agent: Agent; readonly what: string },
): A2AError {
  if (error instanceof A2AError) return error;
  const { logger, hooks } = parts.environment;
  logger.error(what, { agent: agent.id, error });
  callHook(() => hooks.on?.error?.(error, undefined), logger);
  return new A2AError("internal", "The agent failed while answering.", { cause: error });
}

async function replyOf(
  parts: EngineParts,
  agent: Agent,
  { submission, call }: { readonly submission: Submission; readonly call: ReplyCall },
): Promise<Message | undefined> {
  if (agent.reply === undefined) return undefined;
  const { message } = submission;
  try {
    const output = await agent.reply(message, call);
    if (output === undefined) return undefined;
    return {
      // Safe: the agent's own message is named here.
      messageId: uuidv7() as MessageId,
      role: "agent",
      parts: toParts(output),
      contextId: message.contextId ?? (uuidv7() as ContextId),
    };
  } catch (error) {
    throw authorFailed(parts, error, { agent, what: "reply() failed" });
  }
}

/** The agent has answered already: the task only says so. */
interface Answered {
  readonly kind: "answered";
  readonly parts: readonly Part[];
}

function answered({ parts }: Message): Answered {
  return { kind: "answered", parts };
}

function createTask(
  parts: EngineParts,
  agent: Agent,
  { submission, routed }: { readonly submission: Submission; readonly routed: Routed | Answered },
): Submitted {
  const { runs, feeds, environment, node } = parts;
  const { scope, message: incoming } = submission;
  const now = environment.clock.now();
  // Safe: the server names its tasks and, where the caller did not, their contexts.
  const ref: TaskRef = {
    id: incoming.taskId === undefined ? (uuidv7(now) as TaskId) : namedTask(scope, incoming.taskId),
    contextId: incoming.contextId ?? (uuidv7(now) as ContextId),
    scope,
    dialect: submission.dialect,
  };
  const message: Message = { ...incoming, taskId: publicTaskId(ref.id), contextId: ref.contextId };
  const body = writeMessage(message);
  checkSize(parts, body);
  const status = writeStatus({ state: "submitted", timestamp: isoTime(now) });
  const skill = routed.kind === "skill" ? routed.skill : undefined;
  const feed = feeds.open(ref, {
    createdAt: now,
    seq: 0,
    state: "submitted",
    status,
    metadata: undefined,
    interruptedAt: 0,
    sensitive: false,
  });
  feed.origin = { status, message: body };
  const runner = firstRunner(agent, submission, { now, skill: skill?.id });
  const run = runs.open(agent, feed, {
    ref,
    epoch: 1,
    seq: 0,
    head: { state: "submitted", status, statusAt: now, runner: "", active: true },
    runner,
    knownArtifacts: [],
    historyLength: 0,
    create: {
      message: body,
      record: {
        contextId: ref.contextId,
        contextShared: incoming.contextId !== undefined,
        scope,
        dialect: submission.dialect,
        at: now,
        node,
        ...(submission.streaming && { messageId: incoming.messageId }),
      },
    },
  });
  if (routed.kind === "answered") void runs.end(run, "completed", routed.parts);
  else if (routed.kind === "none") void runs.end(run, "rejected", [{ text: routed.reason }]);
  else {
    const data = routed.kind === "skill" ? routed.data : message.parts.find((part) => part.data !== undefined)?.data;
    const turn = { message, data, skillId: skill?.id, history: [message], taken: new Map(), artifacts: [] };
    runs.begin(run, { turn, skill, steps: [], replay: undefined });
  }
  return { kind: "task", ticket: ticketOf(ref) };
}

/** The task a message goes on with, held in memory; release it. */
async function findTask({ feeds }: EngineParts, { scope }: Submission, id: TaskId): Promise<Feed | undefined> {
  const feed = await feeds.acquire(taskKey(scope, id), scope);
  const other = feed === undefined ? otherTaskKey(scope, id) : undefined;
  return other === undefined ? feed : feeds.acquire(other, scope);
}

async function continueTask(parts: EngineParts, submission: Submission, feed: Feed): Promise<Submitted> {
  const { feeds, runs, committer, environment } = parts;
  const { contextId } = submission.message;
  const { id } = feed.task;
  try {
    // Its name may have been taken a moment ago: what follows must find it in the store.
    const writer = runs.writer(id);
    if (writer !== undefined && !writer.isStored) await writer.flush();
    if (feed.ended) throw taskEnded(id, feed.state);
    const { task } = feed;
    if (contextId !== undefined && contextId !== task.contextId) {
      throw invalidField("message.contextId", "is not the context of the task that message.taskId names");
    }
    if (runs.writer(id)?.historyIsFull ?? (await isHistoryFull(parts, id))) {
      throw new A2AError("resource-exhausted", `A task may have ${environment.limits.maxHistory} messages.`);
    }
    const body = writeMessage({ ...submission.message, taskId: publicTaskId(id), contextId: task.contextId });
    checkSize(parts, body);
    // Another node may have asked meanwhile, and for something that must be sealed.
    await feeds.refresh([id]);
    const sealed = feed.sensitive && feed.state === "input-required";
    const entry = {
      id: uuidv7(),
      kind: "message",
      body: sealed ? environment.sealer.seal(body, id) : body,
      sealed,
      at: environment.clock.now(),
    } as const;
    const post = { kind: "post", task: id, entry, maxWaiting: environment.limits.maxInbox } as const;
    const outcome = await committer.submit(post, (known) => {
      if (known.status === "ok") runs.deliver(id, entry, known.node);
    });
    if (outcome.status === "ended") throw taskEnded(id, undefined);
    if (outcome.status === "full") {
      throw new A2AError(
        "resource-exhausted",
        `${environment.limits.maxInbox} messages wait for this task already; try again later.`,
        {
          retryAfter: 5,
        },
      );
    }
    if (outcome.status !== "ok") throw taskNotFound(id);
    return { kind: "task", ticket: { ...ticketOf(task), inbox: entry.id } };
  } catch (error) {
    if (error instanceof A2AError || error instanceof TaskAborted) throw error;
    throw new A2AError("unavailable", "The message could not be stored; try again later.", {
      cause: error,
      retryAfter: 5,
    });
  } finally {
    feeds.release(feed);
  }
}

/** A task that nobody is at work on has no writer to ask. */
async function isHistoryFull({ store, environment }: EngineParts, id: TaskId): Promise<boolean> {
  const record = await store.get(id, { artifacts: false });
  return (record?.history.length ?? 0) >= environment.limits.maxHistory;
}

function firstRunner(
  agent: Agent,
  submission: Submission,
  { now, skill }: { readonly now: number; readonly skill: string | undefined },
): RunnerRecord {
  const timeout = Math.min(agent.timeout ?? DEFAULT_TIMEOUT, submission.timeoutMs ?? Number.POSITIVE_INFINITY);
  const traceId = traceIdOf(submission.traceparent);
  const { caller, metadata, outputModes, extensions } = submission;
  return {
    attempt: 1,
    tries: 1,
    turnAfter: 0,
    interruptedAt: 0,
    bytes: 0,
    ...(skill !== undefined && { skill }),
    ...(Number.isFinite(timeout) && { deadline: now + timeout }),
    ...(!(caller.anonymous && caller.claims === undefined) && { caller }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(outputModes.length > 0 && { outputModes }),
    ...(extensions.length > 0 && { extensions }),
    ...(traceId !== undefined && { traceId }),
  };
}

/** A class, so that the submission's signal stays unmade until somebody asks. */
class SubmissionCall implements ReplyCall {
  readonly caller: ReplyCall["caller"];
  readonly tenant: string;
  readonly metadata: ReplyCall["metadata"];
  readonly outputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly #submission: Submission;

  constructor(submission: Submission) {
    this.caller = submission.caller;
    this.tenant = submission.scope.tenant;
    this.metadata = submission.metadata;
    this.outputModes = submission.outputModes;
    this.extensions = submission.extensions;
    this.#submission = submission;
  }

  get signal(): AbortSignal {
    return this.#submission.signal;
  }
}

function checkSize({ environment }: EngineParts, body: string): void {
  const { maxMessageBytes } = environment.limits;
  if (body.length > maxMessageBytes)
    throw new A2AError("payload-too-large", `A message may be ${maxMessageBytes} bytes.`);
}

function taskNotFound(id: TaskId): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId: publicTaskId(id) } });
}

function taskEnded(id: TaskId, state: string | undefined): A2AError {
  return new A2AError(
    "unsupported-operation",
    `The task is finished${state === undefined ? "" : ` (${state})`}; send the message without a task id to begin a new one.`,
    { metadata: { taskId: publicTaskId(id), state: state ?? "unknown" } },
  );
}
