import { randomId } from "../../internal/random-id.ts";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { AgentCard } from "../../protocol/card.ts";
import type { MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { textOf } from "../../protocol/part.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import type { RemoteResult } from "../../wire/client/client-codec.ts";
import { clientDialect, hasClientDialect, isSupportedInterface } from "../../wire/client/client-registry.ts";
import { plainInterface } from "../../wire/plain/binding.ts";
import type { Credentials } from "../credentials/contract.ts";
import { createAuthorizer } from "../credentials/create-authorizer.ts";
import { MAX_INTERFACES } from "../discovery/choose-interface.ts";
import { type DiscoverOptions, discover } from "../discovery/discover.ts";
import { createDeadline, pause } from "../http/abort.ts";
import { neverSent } from "../http/back-off.ts";
import { type Channel, createChannel } from "../http/channel.ts";
import { RemoteError, toRemoteError } from "../http/errors.ts";
import { type ClientOptions, clientSettings } from "../http/settings.ts";
import { sendRequest } from "../message-input.ts";

/** Options of `invokeRemoteAgent`. */
export interface InvokeOptions extends ClientOptions, Pick<DiscoverOptions, "cache" | "verify"> {
  /** Id of the skill to use. Default: the agent chooses. */
  readonly skill?: string;
  /** Milliseconds for the whole call. Default 300 000. */
  readonly timeoutMs?: number;
  /** Stops waiting. The agent keeps working. */
  readonly signal?: AbortSignal;
  /** The caller's credentials; the agent's card decides which are sent. Default: none. */
  readonly credentials?: Credentials;
  /** The servers that forwarded the message: pass `task.callPath` when an agent calls another agent. Default: empty. */
  readonly callPath?: readonly string[];
}

/** The result of `invokeRemoteAgent`. */
export interface RemoteInvocationResult {
  /** Whether the agent completed the task or answered with a message. */
  readonly success: boolean;
  /** Id of the task. Absent if the message did not arrive, or the agent answered without a task. */
  readonly taskId?: string;
  /** The agent's answer. */
  readonly responseText?: string;
  /** The reason of the failure. */
  readonly error?: string;
}

/** Milliseconds: the default of `timeoutMs`. */
const DEFAULT_TIMEOUT = 300_000;
/** Milliseconds between polls. */
const POLL_INTERVAL = 3000;

/**
 * Sends a message to an agent and polls every 3 seconds for the result. Uses the interfaces of the agent's card, or the plain dialect if it has no card.
 * Never rejects: `success` and `error` report failures.
 */
export async function invokeRemoteAgent(
  baseUrl: string,
  message: string,
  options: InvokeOptions = {},
): Promise<RemoteInvocationResult> {
  const { timeoutMs = DEFAULT_TIMEOUT, signal } = options;
  const { clock } = clientSettings(options);
  const deadline = createDeadline(clock, { signal, timeout: timeoutMs });
  try {
    return await invoke({ baseUrl, message, options: { ...options, clock }, timeoutMs, signal: deadline.signal });
  } catch (thrown) {
    return { success: false, error: toRemoteError(thrown).message };
  } finally {
    deadline.release();
  }
}

interface Invocation {
  readonly baseUrl: string;
  readonly message: string;
  readonly options: InvokeOptions;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A task that asks a question is polled until the timeout: this function cannot answer. */
async function invoke(invocation: Invocation): Promise<RemoteInvocationResult> {
  const { timeoutMs, signal } = invocation;
  let taskId: string | undefined;
  try {
    const { channel, result } = await submit(invocation);
    if (result.kind === "replied") return { success: true, responseText: textOf(result.message.parts) };
    if (result.kind !== "sent" && result.kind !== "task")
      return { success: false, error: "Submit failed: the agent returned no task" };
    let { task } = result;
    taskId = task.id;
    while (!isTerminal(task.status.state)) task = await pollTask(channel, task, invocation);
    return resultOf(task);
  } catch (thrown) {
    const named = taskId === undefined ? {} : { taskId };
    const isOver = signal.aborted && signal.reason instanceof RemoteError && signal.reason.code === "timeout";
    if (isOver) return { success: false, ...named, error: `Timed out after ${timeoutMs}ms` };
    return {
      success: false,
      ...named,
      error: taskId === undefined ? submitFailure(thrown) : toRemoteError(thrown).message,
    };
  }
}

/** `Submit failed: HTTP 503`, or the message of an error without an HTTP status. Callers compare this text. */
function submitFailure(thrown: unknown): string {
  const { remote, message } = toRemoteError(thrown);
  const isHttpError = remote.httpStatus !== undefined && (remote.httpStatus < 200 || remote.httpStatus > 299);
  return `Submit failed: ${isHttpError ? `HTTP ${remote.httpStatus}` : message}`;
}

/** Polls the task after a pause. If the poll fails temporarily, returns the task as it was. */
async function pollTask(channel: Channel, task: Task, { options, signal }: Invocation): Promise<Task> {
  const { clock, timeout } = clientSettings(options);
  await pause(clock, POLL_INTERVAL, signal);
  const deadline = createDeadline(clock, { signal, timeout });
  try {
    const call = channel.prepare({ operation: "get", tenant: "", id: task.id, history: undefined });
    const result = await channel.ask(call, { signal: deadline.signal });
    return result.kind === "task" || result.kind === "sent" ? result.task : task;
  } catch (thrown) {
    if (!signal.aborted && isPassing(toRemoteError(thrown))) return task;
    throw thrown;
  } finally {
    deadline.release();
  }
}

/** Errors of a poll that do not end the call. */
const PASSING: ReadonlySet<string> = new Set(["network", "timeout", "rate-limited", "unavailable", "internal"]);

/** Whether the next poll may succeed. */
function isPassing({ code, remote: { httpStatus = 0 } }: RemoteError): boolean {
  return PASSING.has(code) || httpStatus >= 500;
}

interface Submitted {
  readonly channel: Channel;
  readonly result: RemoteResult;
}

/**
 * Sends over the first interface that works. Every interface except the last one is first asked for an unknown task, so that the message is
 * not posted to a URL that does not support its version.
 */
async function submit(invocation: Invocation): Promise<Submitted> {
  const failures: unknown[] = [];
  const { signal } = invocation;
  const request = requestOf(invocation);
  const channels = await waysIn(invocation);
  for (const channel of channels) {
    try {
      if (channel !== channels.at(-1)) await probe(channel, signal);
      return { channel, result: await channel.ask(channel.prepare(request), { signal }) };
    } catch (thrown) {
      if (signal.aborted || !isNobodyThere(toRemoteError(thrown))) throw thrown;
      failures.push(thrown);
    }
  }
  throw failures[0];
}

/** Throws if no server of this version answers at this interface. Other errors are left to the message itself. */
async function probe(channel: Channel, signal: AbortSignal): Promise<void> {
  const call = channel.prepare({ operation: "get", tenant: "", id: randomId() as TaskId, history: 0 });
  try {
    await channel.ask(call, { signal });
  } catch (thrown) {
    const error = toRemoteError(thrown);
    if (signal.aborted || (error.code !== "task-not-found" && isNobodyThere(error))) throw thrown;
  }
}

/** Whether no server of this version received the request. Needed because cards of the plain dialect look like those of other versions. */
function isNobodyThere(error: RemoteError): boolean {
  const { httpStatus, text } = error.remote;
  if (httpStatus === 404 || httpStatus === 405) return true;
  if (error.code === "method-not-found" || error.code === "version-not-supported") return true;
  return neverSent(error) || (error.code === "invalid-agent-response" && text !== undefined);
}

/** The interfaces of the card, and last the plain dialect. Without a card, only the plain dialect. */
async function waysIn({ baseUrl, options, signal }: Invocation): Promise<readonly Channel[]> {
  const base = withoutTrailing(baseUrl, "/");
  const card = (await cardOf(base, { ...options, signal })) ?? withoutCard(base);
  const { credentials } = options;
  const authorizer = credentials === undefined ? undefined : createAuthorizer(card, credentials, options);
  await authorizer?.prepare(signal);
  const settings = clientSettings({ ...options, ...(authorizer !== undefined && { authorize: authorizer.authorize }) });
  const plain = plainInterface(base);
  const isListed = card.interfaces.some(({ binding }) => binding === plain.binding);
  const supported = card.interfaces
    .filter((at) => isSupportedInterface(at) && hasClientDialect(at))
    .slice(0, MAX_INTERFACES);
  const opened = [...supported, ...(isListed ? [] : [plain])].map(async (at) => {
    const dialect = await clientDialect(at);
    return dialect === undefined ? [] : [createChannel({ card, at, dialect, settings })];
  });
  return (await Promise.all(opened)).flat();
}

/** `undefined` if the agent has no readable card: the plain dialect works without one. */
async function cardOf(base: string, options: InvokeOptions): Promise<AgentCard | undefined> {
  try {
    return (await discover(base, options)).card;
  } catch (thrown) {
    const { code } = toRemoteError(thrown);
    // A failed signature or guard must not be bypassed.
    if (code === "invalid-signature" || code === "blocked-url" || options.signal?.aborted === true) throw thrown;
    return undefined;
  }
}

/** A card without interfaces, so that only the plain dialect is tried. */
function withoutCard(base: string): AgentCard {
  return {
    name: base,
    description: "",
    version: "",
    interfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

/** `waitMs` is 0, because the result is polled. Only the plain dialect sends `timeoutMs` to the agent. */
function requestOf({ message, options, timeoutMs }: Invocation): SendRequest {
  const { skill, callPath } = options;
  const userMessage: Message = { messageId: randomId() as MessageId, role: "user", parts: [{ text: message }] };
  const sending = {
    metadata: skill === undefined ? {} : { skillId: skill },
    ...(callPath !== undefined && { callPath }),
  };
  return {
    ...sendRequest(userMessage, sending, { operation: "send", tenant: "", waitMs: 0 }),
    ...(Number.isFinite(timeoutMs) && { timeoutMs }),
  };
}

function resultOf(task: Task): RemoteInvocationResult {
  const responseText = responseOf(task);
  if (task.status.state === "completed") return { success: true, taskId: task.id, responseText };
  return { success: false, taskId: task.id, error: responseText || "Task failed" };
}

/**
 * The text of the result: the message of the final status; else the artifacts; else the last message of the agent in the history. Artifacts come
 * before the history, whose messages are about progress.
 */
function responseOf({ status, history = [], artifacts = [] }: Task): string {
  const last = status.message?.role === "agent" ? textOf(status.message.parts) : "";
  if (last !== "") return last;
  const made = artifacts.map(({ parts }) => textOf(parts)).filter((text) => text !== "");
  if (made.length > 0) return made.join("\n\n");
  const messages = history.filter(({ role }) => role === "agent").map(({ parts }) => textOf(parts));
  return messages.findLast((text) => text !== "") ?? "";
}
