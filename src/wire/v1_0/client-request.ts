import type { GetRequest, PushConfig, SendRequest } from "../../protocol/operation.ts";
import type {
  ClientRequest,
  RemoteListRequest,
  RemotePushListRequest,
  RestCall,
  RpcCall,
} from "../client/client-codec.ts";
import { asId } from "../fields/fields.ts";
import { pathSegment } from "../fields/path-segment.ts";
import { METHOD_OF } from "./methods.ts";
import { encodeStateFilter } from "./task.ts";

/** Members that are `undefined` are not written: ProtoJSON omits default values. */
type Params = Readonly<Record<string, unknown>>;
type QueryParams = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A get of task `t1` becomes method `GetTask` with `{"id":"t1"}`. All parameters of an operation are members of one object, also the ids
 * that REST has in its path. Throws `invalid-params` for a webhook id that `asId` rejects.
 */
export function encodeRpcRequest(request: ClientRequest): RpcCall {
  const params = { tenant: request.tenant || undefined, ...paramsOf(request), ...idsOf(request) };
  return { method: METHOD_OF[request.operation], params: JSON.stringify(params) };
}

/** The ids that REST has in the path, by their names in JSON-RPC. */
function idsOf(request: ClientRequest): Params {
  switch (request.operation) {
    case "get":
    case "cancel":
    case "subscribe":
      return { id: request.id };
    case "push-create":
    case "push-list":
      return { taskId: request.taskId };
    case "push-get":
    case "push-delete":
      return { taskId: request.taskId, id: asId(request.id, "id") };
    default:
      return {};
  }
}

/** All parameters except the tenant and the ids. */
function paramsOf(request: ClientRequest): Params {
  switch (request.operation) {
    case "send":
    case "stream":
      return sendParams(request);
    case "get":
    case "list":
    case "push-list":
      return queryParams(request);
    case "cancel":
      return { metadata: unlessEmpty(request.metadata) };
    case "push-create":
      return pushParams(request.config);
    default:
      return {};
  }
}

type Queried = GetRequest | RemoteListRequest | RemotePushListRequest;

/** The parameters that REST has in its query, by their JSON names (A2A 1.0 §11.5). Timestamps are in UTC with `Z` (A2A 1.0 §5.6.1). */
function queryParams(request: Queried): QueryParams {
  if (request.operation === "get") return { historyLength: request.history };
  if (request.operation === "push-list") {
    return { pageSize: request.pageSize, pageToken: request.pageToken || undefined };
  }
  return {
    contextId: request.contextId,
    status: request.state && encodeStateFilter(request.state),
    pageSize: request.pageSize,
    pageToken: request.pageToken || undefined,
    historyLength: request.history,
    statusTimestampAfter: request.statusSince === undefined ? undefined : new Date(request.statusSince).toISOString(),
    includeArtifacts: request.artifacts || undefined,
  };
}

/** 1.0 has no time limit for waiting: a client that waits for a limited time must stop waiting itself. */
function sendParams({ message, metadata, outputModes, history, waitMs, push }: SendRequest): Params {
  const configuration = {
    acceptedOutputModes: outputModes.length === 0 ? undefined : outputModes,
    taskPushNotificationConfig: push && pushParams(push),
    historyLength: history,
    returnImmediately: waitMs === 0 || undefined,
  };
  return {
    message: { ...message, role: message.role === "user" ? "ROLE_USER" : "ROLE_AGENT" },
    configuration: unlessEmpty(configuration),
    metadata: unlessEmpty(metadata),
  };
}

/** 1.0 has one authentication scheme per webhook; of several, the first is sent. 1.0 has no members for headers and events. */
function pushParams({ id, url, token, authentication }: PushConfig): Params {
  const [scheme] = authentication?.schemes ?? [];
  return {
    id,
    url,
    token,
    authentication: authentication && { scheme, credentials: authentication.credentials },
  };
}

function unlessEmpty(object: Params): Params | undefined {
  return Object.values(object).some((value) => value !== undefined) ? object : undefined;
}

/**
 * A get of task `t1` for tenant `acme` becomes `GET /acme/tasks/t1` (A2A 1.0 §11.3). Throws `invalid-params` for an id or a tenant that
 * cannot be a path segment.
 */
export function encodeRestRequest(request: ClientRequest): RestCall {
  const { operation, tenant } = request;
  const base = tenant === "" ? "" : `/${pathSegment(tenant, "tenant")}`;
  const body = (): string => JSON.stringify(paramsOf(request));
  switch (operation) {
    case "send":
      return { method: "POST", path: `${base}/message:send`, body: body() };
    case "stream":
      return { method: "POST", path: `${base}/message:stream`, body: body() };
    case "list":
      return { method: "GET", path: `${base}/tasks${queryOf(request)}` };
    case "get":
      return { method: "GET", path: `${base}/tasks/${pathSegment(request.id, "id")}${queryOf(request)}` };
    case "cancel":
      return { method: "POST", path: `${base}/tasks/${pathSegment(request.id, "id")}:cancel`, body: body() };
    case "subscribe":
      return { method: "POST", path: `${base}/tasks/${pathSegment(request.id, "id")}:subscribe` };
    case "push-create":
      return { method: "POST", path: `${base}${configsOf(request.taskId)}`, body: body() };
    case "push-list":
      return { method: "GET", path: `${base}${configsOf(request.taskId)}${queryOf(request)}` };
    case "push-get":
      return { method: "GET", path: `${base}${configsOf(request.taskId)}/${pathSegment(request.id, "id")}` };
    case "push-delete":
      return { method: "DELETE", path: `${base}${configsOf(request.taskId)}/${pathSegment(request.id, "id")}` };
    case "extended-card":
      return { method: "GET", path: `${base}/extendedAgentCard` };
  }
}

function configsOf(taskId: string): string {
  return `/tasks/${pathSegment(taskId, "taskId")}/pushNotificationConfigs`;
}

function queryOf(request: Queried): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(queryParams(request))) {
    if (value !== undefined) query.append(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}
