import { A2AError } from "../../protocol/error.ts";
import type { PushCreateRequest, SendRequest } from "../../protocol/operation.ts";
import type { ClientRequest, RemoteListRequest, RestCall, RpcCall } from "../client/client-codec.ts";
import { type Params, unlessEmpty } from "../client/client-params.ts";
import { pathSegment } from "../fields/path-segment.ts";
import { messageObject } from "./message.ts";
import { METHOD_OF, type MethodNames } from "./methods.ts";

/** Throws `unsupported-operation` if `methods` has no method for the operation. */
export function encodeRpcRequest(request: ClientRequest, methods: MethodNames = METHOD_OF): RpcCall {
  return { method: methodOf(request, methods), params: JSON.stringify(paramsOf(request)) };
}

/** For 0.2, whose editions before 0.2.6 require `configuration.acceptedOutputModes`. An empty list means any. */
export function encodeRpcRequest0_2(request: ClientRequest, methods: MethodNames): RpcCall {
  if (request.operation !== "send" && request.operation !== "stream") return encodeRpcRequest(request, methods);
  const { configuration, ...params } = sendParams(request);
  const complete = { ...configuration, acceptedOutputModes: request.outputModes };
  return { method: methodOf(request, methods), params: JSON.stringify({ ...params, configuration: complete }) };
}

function methodOf(request: ClientRequest, methods: MethodNames): string {
  const method = methods[request.operation];
  if (method === undefined) {
    throw new A2AError(
      "unsupported-operation",
      `The agent's version of JSON-RPC has no operation ${JSON.stringify(request.operation)}`,
    );
  }
  return method;
}

/** The task's id is `taskId` when a webhook is set, and `id` everywhere else (A2A 0.3 §7.5, §7.6). */
function paramsOf(request: ClientRequest): Params {
  switch (request.operation) {
    case "send":
    case "stream":
      return sendParams(request);
    case "get":
      return { id: request.id, historyLength: request.history };
    case "cancel":
      return { id: request.id, metadata: unlessEmpty(request.metadata) };
    case "subscribe":
      return { id: request.id };
    case "push-create":
      return pushParams(request);
    case "push-get":
    case "push-delete":
      return { id: request.taskId, pushNotificationConfigId: request.id };
    case "push-list":
      return { id: request.taskId };
    case "list":
    case "extended-card":
      return {};
  }
}

/**
 * Always writes `blocking`, because agents have different defaults. 0.3 has no time limit for waiting: a client that waits for a limited
 * time must stop waiting itself.
 */
function sendParams({ message, metadata, outputModes, history, waitMs, push }: SendRequest) {
  return {
    message: messageObject(message),
    configuration: {
      acceptedOutputModes: outputModes.length === 0 ? undefined : outputModes,
      blocking: waitMs > 0,
      historyLength: history,
      pushNotificationConfig: push,
    },
    metadata: unlessEmpty(metadata),
  };
}

/** `headers` and `events` of the webhook are sent although 0.3 does not define them: Palaver's server reads them. */
function pushParams({ taskId, config }: PushCreateRequest): Params {
  return { taskId, pushNotificationConfig: config };
}

/** Encodes a REST request in JSON style. */
export function encodeRestRequest(request: ClientRequest): RestCall {
  return encodeRestCall(request, { send: sendParams, pushCreate: (create) => ({ config: pushParams(create) }) });
}

/** Encoders of the bodies that differ between the two styles of REST 0.3. */
export interface RestBodies {
  send(request: SendRequest): Params;
  pushCreate(request: PushCreateRequest): Params;
}

/** Encodes a REST request in either style. */
export function encodeRestCall(request: ClientRequest, bodies: RestBodies): RestCall {
  switch (request.operation) {
    case "send":
    case "stream":
      return { method: "POST", path: `/v1/message:${request.operation}`, body: JSON.stringify(bodies.send(request)) };
    case "get":
      return { method: "GET", path: `${taskPath(request.id)}${historyQuery(request.history)}` };
    case "list":
      return { method: "GET", path: `/v1/tasks${listQuery(request)}` };
    case "cancel": {
      const body = JSON.stringify({ name: `tasks/${request.id}`, metadata: unlessEmpty(request.metadata) });
      return { method: "POST", path: `${taskPath(request.id)}:cancel`, body };
    }
    case "subscribe":
      // The specification has GET and POST; every agent accepts GET.
      return { method: "GET", path: `${taskPath(request.id)}:subscribe` };
    case "push-create":
      return { method: "POST", path: configsPath(request.taskId), body: JSON.stringify(bodies.pushCreate(request)) };
    case "push-get":
      return { method: "GET", path: `${configsPath(request.taskId)}/${pathSegment(request.id, "id")}` };
    case "push-list":
      return { method: "GET", path: configsPath(request.taskId) };
    case "push-delete":
      return { method: "DELETE", path: `${configsPath(request.taskId)}/${pathSegment(request.id, "id")}` };
    case "extended-card":
      return { method: "GET", path: "/v1/card" };
  }
}

function taskPath(id: string): string {
  return `/v1/tasks/${pathSegment(id, "id")}`;
}

function configsPath(taskId: string): string {
  return `${taskPath(taskId)}/pushNotificationConfigs`;
}

function listQuery({ history, pageToken }: Pick<RemoteListRequest, "history" | "pageToken">): string {
  const query = historyQuery(history);
  if (pageToken === undefined) return query;
  return `${query === "" ? "?" : `${query}&`}pageToken=${encodeURIComponent(pageToken)}`;
}

function historyQuery(history: number | undefined): string {
  return history === undefined ? "" : `?historyLength=${history}`;
}
