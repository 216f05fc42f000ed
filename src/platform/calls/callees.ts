import type { AgentClient } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { Agent, CallTarget } from "../../engine/agent/agent.ts";
import type { Engine } from "../../engine/api.ts";
import { CallError } from "../../engine/call/call-error.ts";
import type { Callee, CalleeAddress, Callees, CallOrigin, OpenChild } from "../../engine/call/callee.ts";
import type { Logger } from "../../internal/logger.ts";
import { callPathEntry } from "../../protocol/call-path.ts";
import type { Ancestry } from "../../protocol/calls/ancestry.ts";
import type { MessageId, TaskId } from "../../protocol/ids.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import type { Task } from "../../protocol/task.ts";
import { CANCEL_AGENT, type CancelOrder } from "./cancel-agent.ts";
import { HostedCallee } from "./hosted-callee.ts";
import { isTransient, RemoteCallee } from "./remote-callee.ts";
import type { RemoteClients } from "./remote-clients.ts";

export interface CalleesOptions {
  readonly agents: readonly Agent[];
  /** A function, because the engine needs the callees first. */
  readonly engine: () => Engine;
  readonly serverId: string;
  readonly remotes: RemoteClients;
  readonly newContextId: (entry: string) => string;
  readonly sign: (ancestry: Ancestry, messageId: string) => Promise<string>;
  /** Throws an `A2AError` if the caller may not call the agent. Returns what checks its skills. */
  readonly authorize: (agent: Agent, origin: CallOrigin) => ((skill: string) => void) | undefined;
  readonly logger: Logger;
}

/** Milliseconds that the end of a calling task waits for a called task to end. */
const ENDS_WITHIN = 4000;
/** Milliseconds that a cancel of a remote task may take before it is tried later. */
const CANCEL_WITHIN = 2000;

/** Finds agents of this server and of others, and cancels tasks whose caller has ended. */
export function createCallees(options: CalleesOptions): Callees {
  const byId = new Map(options.agents.map((agent) => [agent.id, agent]));
  const hosted = (id: string, origin: CallOrigin): Callee => {
    const agent = byId.get(id);
    if (agent === undefined)
      throw new CallError(`This server has no agent ${JSON.stringify(id)}. It has ${[...byId.keys()].join(", ")}.`, {
        code: "call-unknown-agent",
      });
    const { serverId, engine } = options;
    return new HostedCallee({
      engine: engine(),
      agent,
      serverId,
      origin,
      admitSkill: authorized(options, agent, origin),
    });
  };
  const remote = async (url: string, origin: CallOrigin, client?: AgentClient): Promise<Callee> => {
    const { remotes, sign, newContextId, serverId } = options;
    const entry = callPathEntry(serverId, origin.scope.agent);
    const connected = await remotes.client(url, client).catch((error: unknown) => {
      throw notFound(url, error);
    });
    return new RemoteCallee({ client: connected, url, origin, sign, newContextId: () => newContextId(entry) });
  };
  const at = async (address: CalleeAddress, origin: CallOrigin): Promise<Callee> =>
    address.url === undefined ? hosted(address.agent, origin) : remote(address.url, origin);
  return {
    sign: (ancestry, messageId) => options.sign(ancestry, messageId),
    label: (target) => targetOf(target).label,
    async find(target, origin) {
      const { id, url, client } = targetOf(target);
      return id === undefined ? remote(url, origin, client) : hosted(id, origin);
    },
    async abandon(child, origin) {
      if (child.address.url === undefined) return endHosted(options, child, origin);
      const { signal } = new AbortController();
      return endRemote(options, child, () => at(child.address, origin).then((callee) => ({ callee, signal })));
    },
  };
}

function authorized(
  { authorize }: CalleesOptions,
  agent: Agent,
  origin: CallOrigin,
): ((skill: string) => void) | undefined {
  try {
    return authorize(agent, origin);
  } catch (cause) {
    throw new CallError(`The caller of this task may not call the agent ${JSON.stringify(agent.name)}.`, {
      code: "call-forbidden",
      cause,
    });
  }
}

/** The agent's card could not be read. The text names no details of this server's network. */
function notFound(url: string, error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const isBlocked = error.code === "blocked-url";
  return new CallError(`The agent at ${url} could not be found${isBlocked ? ": its URL must not be called" : ""}.`, {
    code: isBlocked ? "call-blocked-url" : "call-unavailable",
    data: { error: error.code },
    cause: error,
    transient: isTransient(error),
  });
}

/** Stores the cancel and waits a while for the end of the task. */
async function endHosted(
  { engine: engineOf }: CalleesOptions,
  { address, taskId, messageId }: OpenChild,
  origin: CallOrigin,
): Promise<Task | undefined> {
  const engine = engineOf();
  const scope = { ...origin.scope, agent: address.agent ?? "" };
  const id = taskId ?? (await engine.findByMessage(scope, messageId))?.taskId;
  if (id === undefined) return undefined;
  const ended = engine.cancel(scope, id as TaskId).then(async () => {
    const stored = await engine.snapshot(scope, id as TaskId, { artifacts: false, history: 0 });
    const { readTask } = await import("../../protocol/serial.ts");
    return stored && readTask(stored);
  });
  return within(ended, ENDS_WITHIN);
}

interface Reached {
  readonly callee: Callee;
  readonly signal: AbortSignal;
}

/** Cancels now if the server can be reached, else by a task of this server that tries again. */
async function endRemote(
  options: CalleesOptions,
  child: OpenChild,
  reach: () => Promise<Reached>,
): Promise<Task | undefined> {
  let { taskId } = child;
  const url = child.address.url ?? "";
  try {
    const signal = AbortSignal.timeout(CANCEL_WITHIN);
    const { callee } = await reach();
    const { messageId, contextId } = child;
    // Safe casts: ids that this server has made.
    const sent = {
      messageId: messageId as MessageId,
      ...(contextId !== undefined && { contextId: contextId as Task["contextId"] }),
    };
    taskId ??= (await callee.find(sent, signal))?.taskId;
    if (taskId === undefined) return undefined;
    await callee.cancel(taskId, signal);
    return await callee.result(taskId, signal).catch(() => undefined);
  } catch (error) {
    const { logger } = options;
    logger.info("A called task could not be canceled now", { url, calledTask: taskId, error });
    if (taskId !== undefined) await cancelLater(options, { url, taskId });
    return undefined;
  }
}

async function cancelLater({ engine, logger }: CalleesOptions, order: CancelOrder): Promise<void> {
  const call = {
    ...{ principal: ANONYMOUS, dialect: "internal", signal: new AbortController().signal, activeExtensions: [] },
    policy: { namesTasks: false, tasksOnly: true },
  };
  // The same task is canceled once, whoever gives the order, and however often.
  const messageId = `cancel ${order.url} ${order.taskId}` as MessageId;
  try {
    const submitted = await engine().submit({
      call,
      request: {
        ...{ operation: "send" as const, metadata: {}, outputModes: [] },
        message: { messageId, role: "user", parts: [{ data: order }] },
      },
      scope: { agent: CANCEL_AGENT, tenant: "", owner: ANONYMOUS.id },
      idempotencyWindow: 24 * 3_600_000,
    });
    if (submitted.kind === "task") await submitted.ticket.stored();
  } catch (error) {
    logger.warn("A called task is not canceled: the order could not be stored", { ...order, error });
  }
}

/** The result, if it comes in time. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

type Target =
  | { readonly label: string; readonly id: string; readonly url?: never; readonly client?: never }
  | { readonly label: string; readonly id?: never; readonly url: string; readonly client?: AgentClient };

/** Throws a `TypeError` if it is no agent. */
function targetOf(target: CallTarget): Target {
  if (target instanceof URL) return { label: target.href, url: target.href };
  if (typeof target === "string")
    return URL.canParse(target) ? { label: target, url: target } : { label: target, id: target };
  if (typeof target === "object" && target !== null && "card" in target) {
    // Safe cast: the documentation asks for a client of `connect`.
    const client = target as unknown as AgentClient;
    const { url } = client.interface;
    return { label: url, url, client };
  }
  if (typeof target === "object" && target !== null && typeof target.id === "string")
    return { label: target.id, id: target.id };
  throw new TypeError("call(): the agent must be the id of an agent of this server, an agent, a URL, or a client.");
}
