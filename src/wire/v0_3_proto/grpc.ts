import { type ErrorCode, invalidField } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { withFieldNames } from "../fields/error-fields.ts";
import { asObject, member, optionalInteger, optionalString, type WireObject } from "../fields/fields.ts";
import type { GrpcMethod, GrpcRow } from "../grpc-codec.ts";
import type { DialectSettings } from "../options.ts";
import { decodeRestRequest, type RestStyle } from "../v0_3/rest-request.ts";
import { createRestCodec } from "./codec.ts";
import { FIELDS } from "./error.ts";
import { decodeSend, historyOf } from "./request.ts";

/** A method for each operation but `list`, which 0.3 does not define over gRPC. */
export const METHODS: Partial<Readonly<Record<Operation, GrpcMethod>>> = {
  send: method("SendMessage", "SendMessageRequest", "SendMessageResponse"),
  stream: method("SendStreamingMessage", "SendMessageRequest", "StreamResponse"),
  get: method("GetTask", "GetTaskRequest", "Task"),
  cancel: method("CancelTask", "CancelTaskRequest", "Task"),
  subscribe: method("TaskSubscription", "TaskSubscriptionRequest", "StreamResponse"),
  "push-create": method(
    "CreateTaskPushNotificationConfig",
    "CreateTaskPushNotificationConfigRequest",
    "TaskPushNotificationConfig",
  ),
  "push-get": method(
    "GetTaskPushNotificationConfig",
    "GetTaskPushNotificationConfigRequest",
    "TaskPushNotificationConfig",
  ),
  "push-list": method(
    "ListTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigRequest",
    "ListTaskPushNotificationConfigResponse",
  ),
  "push-delete": method(
    "DeleteTaskPushNotificationConfig",
    "DeleteTaskPushNotificationConfigRequest",
    "google.protobuf.Empty",
  ),
  "extended-card": method("GetAgentCard", "GetAgentCardRequest", "AgentCard"),
};

function method(name: string, request: string, answer: string): GrpcMethod {
  return { name, request, answer };
}

export const SERVICE = "a2a.v1.A2AService";

export function createGrpcRow(settings: DialectSettings): GrpcRow {
  const dialect = "0.3/grpc";
  const style: RestStyle = {
    decodeSend: (operation, body) => decodeSend(operation, body, settings.blockingDefault[dialect]),
    history: historyOf,
  };
  return {
    service: SERVICE,
    agentBy: "authority",
    methods: METHODS,
    decodeRequest: (operation, json) => decodeRequest(operation, asObject(json, "request"), style),
    text: { ...createRestCodec(settings), dialect },
    status: (error) => {
      const { message, code } = withFieldNames(error, FIELDS);
      const name = ERROR_NAMES[code];
      return { name: statusName(code), message: name === undefined ? message : `${name}: ${message}` };
    },
  };
}

/** Statuses that differ from those of 1.0.0: 0.3 does not define these errors. */
const STATUSES: Partial<Readonly<Record<ErrorCode, string>>> = {
  "payload-too-large": "RESOURCE_EXHAUSTED",
  "extension-support-required": "INVALID_ARGUMENT",
  "version-not-supported": "INVALID_ARGUMENT",
};

function statusName(code: ErrorCode): string {
  return STATUSES[code] ?? ERROR_TABLE[code].statusFirstEdition;
}

/** The names of the errors of 0.3, with which the texts of official servers begin. */
export const ERROR_NAMES: Partial<Readonly<Record<ErrorCode, string>>> = {
  "task-not-found": "TaskNotFoundError",
  "task-not-cancelable": "TaskNotCancelableError",
  "push-not-supported": "PushNotificationNotSupportedError",
  "unsupported-operation": "UnsupportedOperationError",
  "content-type-not-supported": "ContentTypeNotSupportedError",
  "invalid-agent-response": "InvalidAgentResponseError",
  "extended-card-not-configured": "AuthenticatedExtendedCardNotConfiguredError",
};

/** `tasks/{id}`, or `tasks/{id}/pushNotificationConfigs/{configId}`. Task ids may contain slashes. */
const TASK = /^tasks\/(.+)$/s;
const CONFIG = /^tasks\/(.+?)\/pushNotificationConfigs\/(.+)$/s;

/** The ids of 0.3 are resource names; the rest is as in REST. */
function decodeRequest(operation: Operation, wire: WireObject, style: RestStyle): OperationRequest {
  const query = new URLSearchParams();
  const length = optionalInteger(member(wire, "historyLength"), "historyLength");
  if (length !== undefined) query.set("historyLength", String(length));
  return decodeRestRequest(operation, { path: pathOf(operation, wire), query, body: wire }, style);
}

function pathOf(operation: Operation, wire: WireObject): Readonly<Record<string, string>> {
  switch (operation) {
    case "get":
    case "cancel":
    case "subscribe":
      return { id: idIn(wire, "name") };
    case "push-create":
    case "push-list":
      return { id: idIn(wire, "parent") };
    case "push-get":
    case "push-delete": {
      const [, id = "", configId = ""] = CONFIG.exec(textIn(wire, "name")) ?? [];
      if (configId === "") throw invalidField("name", "must be tasks/{id}/pushNotificationConfigs/{config id}");
      return { id, configId };
    }
    default:
      return {};
  }
}

function idIn(wire: WireObject, field: "name" | "parent"): string {
  const [, id] = TASK.exec(textIn(wire, field)) ?? [];
  if (id === undefined) throw invalidField(field, "must be tasks/{id}");
  return id;
}

function textIn(wire: WireObject, field: string): string {
  return optionalString(member(wire, field), field) ?? "";
}
