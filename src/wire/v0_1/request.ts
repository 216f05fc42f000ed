import { A2AError } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type {
  Operation,
  OperationRequest,
  PushCreateRequest,
  PushDeleteRequest,
  SendRequest,
} from "../../protocol/operation.ts";
import {
  asId,
  asObject,
  member,
  optionalId,
  optionalJsonObject,
  optionalStrings,
  type WireObject,
} from "../fields/fields.ts";
import type { WaitDefault } from "../options.ts";
import { decodeHistoryLength, decodePushConfig, decodeWait } from "../v0_3/request.ts";
import { decodeMessage, type MessageParsing } from "./message.ts";

/** How requests are parsed, by the settings of the server. */
export interface RequestParsing extends MessageParsing {
  /** Whether a send waits: 0.1 has no member for it. */
  readonly wait: WaitDefault;
}

/**
 * Decodes the parameters of JSON-RPC 0.1. Throws `invalid-params`. A `push-create` may return a `push-delete` request: see `decodePushSet`.
 */
export function decodeRequest(operation: Operation, params: unknown, parsing: RequestParsing): OperationRequest {
  const wire = asObject(params ?? {}, "params");
  const tenant = "";
  switch (operation) {
    case "send":
    case "stream":
      return decodeSend(operation, wire, parsing);
    case "get":
      return { operation, tenant, id: decodeTaskId(wire), history: decodeHistory(wire) };
    case "cancel":
      return { operation, tenant, id: decodeTaskId(wire), metadata: decodeMetadata(wire) };
    case "subscribe":
      return { operation, tenant, id: decodeTaskId(wire) };
    case "push-create":
      return decodePushSet(wire);
    case "push-get":
      return { operation, tenant, taskId: decodeTaskId(wire) };
    case "list":
    case "push-list":
    case "push-delete":
    case "extended-card":
      // Unreachable: 0.1 has no methods for these operations.
      throw new A2AError("method-not-found", "Method not found");
  }
}

function decodeTaskId(wire: WireObject): TaskId {
  return asId(member(wire, "id"), "id") as TaskId;
}

/** In 0.1, setting the webhook to `null` deletes it. */
function decodePushSet(wire: WireObject): PushCreateRequest | PushDeleteRequest {
  const place = "pushNotificationConfig";
  const taskId = decodeTaskId(wire);
  if (wire[place] === null) return { operation: "push-delete", tenant: "", taskId };
  const config = decodePushConfig(asObject(wire[place], place), `${place}.`);
  return { operation: "push-create", tenant: "", taskId, config };
}

/** In 0.1 the caller chooses the task id, and an unknown id creates a task (A2A 0.1 §7.1.1). */
function decodeSend(operation: "send" | "stream", wire: WireObject, parsing: RequestParsing): SendRequest {
  const taskId = decodeTaskId(wire);
  const sessionId = optionalId(member(wire, "sessionId"), "sessionId");
  const message = decodeMessage(member(wire, "message"), "message", parsing);
  const push = member(wire, "pushNotification");
  return {
    operation,
    tenant: "",
    message: { ...message, taskId, ...(sessionId !== undefined && { contextId: sessionId as ContextId }) },
    metadata: decodeMetadata(wire),
    outputModes: optionalStrings(member(wire, "acceptedOutputModes"), "acceptedOutputModes") ?? [],
    history: decodeHistory(wire),
    waitMs: decodeWait(undefined, parsing.wait),
    ...(push !== undefined && { push: decodePushConfig(asObject(push, "pushNotification"), "pushNotification.") }),
  };
}

/** In 0.1 absent and 0 both request no history (A2A 0.1 §7.1.1). */
function decodeHistory(wire: WireObject): number {
  return decodeHistoryLength(wire, "") ?? 0;
}

function decodeMetadata(wire: WireObject): JsonObject {
  return optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
}
