import { callHook } from "../../internal/call-hook.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import { type CallPath, callPathEntry } from "../../protocol/call-path.ts";
import { A2AError } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { namedTask, otherTaskKey, taskKey } from "../../protocol/task-key.ts";
import type { Agent, Output, ReplyCall } from "../agent/agent.ts";
import { toParts } from "../agent/output.ts";
import type { Submission, Submitted } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { skillNamed } from "../run/turn.ts";
import { continueByContext, namesContextOnly } from "./context-answer.ts";
import { continueTask } from "./continue-task.ts";
import { type Answered, createTask } from "./create-task.ts";
import { type Idempotency, submitIdempotent } from "./idempotency.ts";
import { checkParts } from "./message-size.ts";
import { TaskIdTaken, taskNotFound } from "./refused-task.ts";
import { type Routed, routeMessage } from "./route.ts";

/** Implements `Engine.submit`. */
export function submit(parts: EngineParts, submission: Submission): Submitted | Promise<Submitted> {
  const { idempotencyWindow } = submission;
  if (idempotencyWindow === undefined) return submitMessage(parts, submission, undefined);
  return submitIdempotent(parts, submission, {
    window: idempotencyWindow,
    work: async (idempotency) => submitMessage(parts, submission, idempotency),
  });
}

function submitMessage(
  parts: EngineParts,
  submission: Submission,
  idempotency: Idempotency | undefined,
): Submitted | Promise<Submitted> {
  const agent = parts.agents.get(submission.scope.agent);
  if (agent === undefined)
    throw new A2AError("internal", "Internal error", { cause: `no agent ${submission.scope.agent}` });
  const { message } = submission.request;
  checkParts(parts.environment.limits, message);
  const incoming: Incoming = { agent, submission, idempotency };
  const mayContinue = message.taskId !== undefined || namesContextOnly(submission);
  return mayContinue || agent.reply !== undefined
    ? continueOrReply(parts, incoming)
    : createRouted(parts, incoming, routeOf(parts, agent, submission));
}

interface Incoming {
  readonly agent: Agent;
  readonly submission: Submission;
  readonly idempotency: Idempotency | undefined;
}

/** For a message to a task that may exist, and for an agent with a `reply`. */
async function continueOrReply(parts: EngineParts, incoming: Incoming): Promise<Submitted> {
  try {
    return await continueReplyOrCreate(parts, incoming);
  } catch (error) {
    const { taskId } = incoming.submission.request.message;
    if (!(error instanceof TaskIdTaken) || taskId === undefined) throw error;
    // Another node has created the task at the same time.
    const known = await findTask(parts, incoming.submission, taskId);
    if (known === undefined) throw error;
    return continueTask(parts, known, incoming);
  }
}

async function continueReplyOrCreate(parts: EngineParts, incoming: Incoming): Promise<Submitted> {
  const { agent, submission } = incoming;
  const { message } = submission.request;
  const { namesTasks, tasksOnly } = submission.call.policy;
  if (message.taskId !== undefined) {
    const known = await findTask(parts, submission, message.taskId);
    if (known !== undefined) return continueTask(parts, known, incoming);
    if (!namesTasks) throw taskNotFound(message.taskId);
  }
  if (namesContextOnly(submission)) {
    const continued = await continueByContext(parts, incoming);
    if (continued !== undefined) return continued;
  }
  const reply = agent.reply === undefined ? undefined : await replyOf(parts, agent, submission);
  if (reply !== undefined && !tasksOnly) return { kind: "message", message: reply };
  const routed = reply === undefined ? routeOf(parts, agent, submission) : answered(reply);
  return createRouted(parts, incoming, routed);
}

/** Creates a task for the message, unless one was created while `route` ran. */
function createRouted(
  parts: EngineParts,
  incoming: Incoming,
  routed: Routed | Answered | Promise<Routed>,
): Submitted | Promise<Submitted> {
  if (routed instanceof Promise) return routed.then((found) => createRouted(parts, incoming, found));
  const { agent, submission } = incoming;
  const { taskId } = submission.request.message;
  if (routed.kind === "skill") submission.admitSkill?.(routed.skill.id);
  requireCapacity(parts, agent, submission);
  const meanwhile = taskId === undefined ? undefined : parts.feeds.peek(namedTask(submission.scope, taskId));
  if (meanwhile !== undefined) return continueTask(parts, parts.feeds.hold(meanwhile), incoming);
  return createTask(parts, agent, { ...incoming, routed });
}

function requireCapacity(parts: EngineParts, agent: Agent, { call, scope }: Submission): void {
  const { runs, environment } = parts;
  const { maxRunsPerOwner } = environment.limits;
  // Anonymous callers are many callers with one owner: the limit per owner does not apply.
  if (!call.principal.anonymous && runs.countOf(scope.owner) >= maxRunsPerOwner) {
    throw new A2AError(
      "resource-exhausted",
      `The caller already has ${maxRunsPerOwner} running or queued tasks; try again in 5 s.`,
      {
        retryAfter: 5,
      },
    );
  }
  if (runs.hasRoom(agent)) return;
  throw new A2AError("resource-exhausted", "The agent is at capacity; try again in 5 s.", {
    retryAfter: 5,
  });
}

/** Throws if the server is at capacity: the author's `route` is not called then. */
function routeOf(parts: EngineParts, agent: Agent, submission: Submission): Routed | Promise<Routed> {
  requireCapacity(parts, agent, submission);
  const call = (): ReplyCall => new SubmissionCall(submission, parts.environment.serverId);
  const routed = routeMessage(agent, submission.request, call);
  if (!(routed instanceof Promise)) return routed;
  return routed.catch((error: unknown) => {
    throw authorFailed(parts, error, { agent, what: "route() failed" });
  });
}

/** The author's function threw before a task existed. The log and the `error` hook get the error; the caller gets a general message. */
function authorFailed(
  parts: EngineParts,
  error: unknown,
  { agent, what }: { readonly agent: Agent; readonly what: string },
): A2AError {
  if (error instanceof A2AError) return error;
  reportError(parts, error, { agent, what });
  return new A2AError("internal", "The agent failed while answering.", { cause: error });
}

function reportError(
  parts: EngineParts,
  error: unknown,
  { agent, what }: { readonly agent: Agent; readonly what: string },
): void {
  const { logger, hooks } = parts.environment;
  logger.error(what, { agent: agent.id, error });
  callHook(() => hooks.on?.error?.(error, undefined), logger);
}

async function replyOf(parts: EngineParts, agent: Agent, submission: Submission): Promise<Message | undefined> {
  const { message, metadata } = submission.request;
  const skill = skillNamed(agent, message, metadata);
  if (skill !== undefined) submission.admitSkill?.(skill.id);
  try {
    const output = await agent.reply?.(message, new SubmissionCall(submission, parts.environment.serverId));
    if (output === undefined) return undefined;
    return {
      // Safe cast: the server creates the id.
      messageId: uuidv7() as MessageId,
      role: "agent",
      parts: repliedParts(parts, agent, output),
      contextId: message.contextId ?? (uuidv7() as ContextId),
    };
  } catch (error) {
    throw authorFailed(parts, error, { agent, what: "reply() failed" });
  }
}

/** The output of `reply` as parts. Output that is not valid content is an `invalid-agent-response`. */
function repliedParts(parts: EngineParts, agent: Agent, output: Output): readonly Part[] {
  try {
    return toParts(output);
  } catch (error) {
    reportError(parts, error, { agent, what: "reply() returned invalid output" });
    throw new A2AError("invalid-agent-response", "The agent returned invalid output.", { cause: error });
  }
}

function answered({ parts }: Message): Answered {
  return { kind: "answered", parts };
}

/** The feed of the task with this id. The caller must release it. */
async function findTask({ feeds }: EngineParts, { scope }: Submission, id: TaskId): Promise<Feed | undefined> {
  const feed = await feeds.acquire(taskKey(scope, id), scope);
  const other = feed === undefined ? otherTaskKey(scope, id) : undefined;
  return other === undefined ? feed : feeds.acquire(other, scope);
}

/** The call as the author sees it. A class with getters, so that the signal and the call path are created only if the author reads them. */
class SubmissionCall implements ReplyCall {
  readonly caller: ReplyCall["caller"];
  readonly tenant: string;
  readonly metadata: ReplyCall["metadata"];
  readonly outputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly #submission: Submission;
  readonly #serverId: string;

  constructor(submission: Submission, serverId: string) {
    const { call, request, scope } = submission;
    this.caller = call.principal;
    this.tenant = scope.tenant;
    this.metadata = request.metadata;
    this.outputModes = request.outputModes;
    this.extensions = call.activeExtensions;
    this.#submission = submission;
    this.#serverId = serverId;
  }

  get callPath(): CallPath {
    const { call, scope } = this.#submission;
    return [...(call.callPath ?? []), callPathEntry(this.#serverId, scope.agent)];
  }

  get signal(): AbortSignal {
    return this.#submission.call.signal;
  }
}
