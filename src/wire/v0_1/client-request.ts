import { A2AError } from "../../protocol/error.ts";
import type { PushConfig, SendRequest } from "../../protocol/operation.ts";
import type { ClientRequest, RpcCall } from "../client/client-codec.ts";
import { type Params, unlessEmpty } from "../client/client-params.ts";
import { messageObject, type NewId } from "./message.ts";
import { METHOD_OF } from "./methods.ts";

/** Throws `unsupported-operation` if 0.1 has no such method. `newId` generates the ids of new tasks. */
export function encodeRpcRequest(request: ClientRequest, newId: NewId): RpcCall {
  const method = METHOD_OF[request.operation];
  if (method === undefined) {
    throw new A2AError(
      "unsupported-operation",
      `The agent supports only A2A 0.1, which has no operation ${JSON.stringify(request.operation)}`,
    );
  }
  return { method, params: JSON.stringify(paramsOf(request, newId)) };
}

/** `id` is always the task's id in 0.1, also of webhooks, because a task has at most one. */
function paramsOf(request: ClientRequest, newId: NewId): Params {
  switch (request.operation) {
    case "send":
    case "stream":
      return sendParams(request, newId);
    case "get":
      return { id: request.id, historyLength: request.history || undefined };
    case "cancel":
      return { id: request.id, metadata: unlessEmpty(request.metadata) };
    case "subscribe":
      return { id: request.id };
    case "push-create":
      return { id: request.taskId, pushNotificationConfig: pushObject(request.config) };
    case "push-get":
      return { id: request.taskId };
    case "list":
    case "push-list":
    case "push-delete":
    case "extended-card":
      return {};
  }
}

/** 0.1 has no member for waiting: the agent decides when it answers; most answer at once. */
function sendParams({ message, metadata, outputModes, history, push }: SendRequest, newId: NewId): Params {
  return {
    id: message.taskId ?? newId(),
    sessionId: message.contextId,
    message: messageObject(message),
    acceptedOutputModes: outputModes.length === 0 ? undefined : outputModes,
    pushNotification: push && pushObject(push),
    historyLength: history || undefined,
    metadata: unlessEmpty(metadata),
  };
}

/** A task has at most one webhook in 0.1, so the webhook needs no id. */
function pushObject({ id: _omitted, ...config }: PushConfig): Params {
  return config;
}
