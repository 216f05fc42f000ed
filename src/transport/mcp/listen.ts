import { A2AError, invalidField } from "../../protocol/error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { Headers, Reply } from "../exchange.ts";
import { callerKey } from "../rate-limit/request-limits.ts";
import { abilitiesOf } from "./client-abilities.ts";
import type { ClientAbilities } from "./contract.ts";
import type { McpRequest } from "./face.ts";
import { RpcFailure, TASKS_REQUIRED } from "./mcp-error.ts";
import { mcpTaskId } from "./mcp-task.ts";
import { openMcpTask } from "./task-methods.ts";
import { type FollowedTask, TaskUpdates } from "./task-updates.ts";

/** A request for notifications of tasks. */
export interface ListenRequest {
  readonly id: string | number;
  readonly meta: JsonObject;
  readonly taskIds: JsonValue;
}

const METHOD = "subscriptions/listen";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const VERSION = "io.modelcontextprotocol/protocolVersion";
/** The revision that the extension belongs to. */
const REVISION = "2026-07-28";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
/** Tasks of one subscription. */
const MAX_TASKS = 100;

/** The request for notifications of tasks; `undefined` for other requests, and if its headers do not say what it says: the SDK answers those. */
export function readListenRequest({ exchange }: McpRequest, body: unknown): ListenRequest | undefined {
  if (!isJsonObject(body) || body["method"] !== METHOD || exchange.header("mcp-method") !== METHOD) return undefined;
  const { id, params } = body;
  const { notifications, _meta: meta } = isJsonObject(params) ? params : {};
  if ((typeof id !== "string" && typeof id !== "number") || !isJsonObject(meta) || !isJsonObject(notifications))
    return undefined;
  const { taskIds } = notifications;
  const isOfRevision = meta[VERSION] === REVISION && exchange.header("mcp-protocol-version") === REVISION;
  return taskIds === undefined || !isOfRevision ? undefined : { id, meta, taskIds };
}

/**
 * `subscriptions/listen` with `taskIds`: a stream of `notifications/tasks`, one for each task at first, and one whenever its status has changed. Tasks that the
 * caller may not read are left out, as the acknowledgement says. Throws an `A2AError` or an `RpcFailure`.
 */
export async function listenToTasks(
  request: McpRequest,
  { id, meta, taskIds }: ListenRequest,
  headers: Headers,
): Promise<Reply> {
  const client = abilitiesOf(meta[CAPABILITIES]);
  if (!client.tasks) throw new RpcFailure(TASKS_REQUIRED);
  const { streams, environment } = request.face.endpoint;
  const place = streams.admit(callerKey(request.principal, environment.remoteOf(request.exchange)));
  try {
    const opened = await Promise.all(readIds(taskIds).map((taskId) => openTask(request, taskId, { meta, client })));
    const tasks = opened.filter((task) => task !== undefined);
    const _meta = { [SUBSCRIPTION]: id };
    const updates = new TaskUpdates({
      tasks,
      acknowledgement: {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { _meta, notifications: { taskIds: tasks.map(({ name }) => mcpTaskId(name)) } },
      },
      notification: (task) => ({ jsonrpc: "2.0", method: "notifications/tasks", params: { ...task, _meta } }),
      completion: { jsonrpc: "2.0", id, result: { resultType: "complete", _meta } },
      ended: () => {
        streams.remove(updates);
        place.release();
      },
    });
    streams.add(updates);
    const type = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" };
    return { status: 200, headers: { ...headers, ...type }, source: updates };
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

function readIds(taskIds: JsonValue): readonly string[] {
  const field = "notifications.taskIds";
  if (!Array.isArray(taskIds)) throw invalidField(field, "must be a list");
  if (taskIds.length > MAX_TASKS) throw invalidField(field, `must have at most ${MAX_TASKS} entries`);
  const ids = taskIds.filter((taskId) => typeof taskId === "string");
  if (ids.length < taskIds.length) throw invalidField(field, "must be a list of strings");
  return [...new Set(ids)];
}

/** Errors that mean that the caller has no such task. */
const NO_TASK: ReadonlySet<string> = new Set(["task-not-found", "permission-denied", "unauthenticated"]);

async function openTask(
  request: McpRequest,
  taskId: string,
  { meta, client }: { readonly meta: JsonObject; readonly client: ClientAbilities },
): Promise<FollowedTask | undefined> {
  try {
    return await openMcpTask(request, { params: { taskId }, meta, client, signal: request.exchange.signal });
  } catch (thrown) {
    if (thrown instanceof A2AError && NO_TASK.has(thrown.code)) return undefined;
    throw thrown;
  }
}
