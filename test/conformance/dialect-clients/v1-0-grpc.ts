import type { Caller, CallerOptions, DialectClient } from "../dialect-client.ts";
import type { Fields } from "../neutral.ts";
import { REFUSALS } from "../refusals.ts";
import { asObject, wrong } from "../strict.ts";
import {
  createGrpcClient,
  type GrpcRefusal,
  type GrpcRequest,
  type GrpcStatus,
  REDUCTION_GRPC,
  TYPES,
} from "./grpc-client.ts";
import { readEmpty, readFlatWebhook, readWebhookPage, writeFlatWebhook } from "./push-shapes.ts";
import { headersOf } from "./rest-client.ts";
import { listRequest, RULES, sendRequest } from "./v1-0-requests.ts";
import { READERS, readPage, readRestError } from "./v1-0-shapes.ts";

/** 1.0 over gRPC. */
export const grpc1_0: DialectClient = {
  dialect: "1.0/grpc",
  version: "1.0",
  binding: "grpc",
  rules: RULES,
  reduction: REDUCTION_GRPC,
  readPushed: READERS.readEvent,
  at: callerAt,
};

const { readTask, readSent, readEvent } = READERS;

/** The error is in the details. */
function readError({ details }: GrpcStatus): GrpcRefusal {
  const { message, details: list } = asObject(TYPES.type("google.rpc.Status").decode(details), "Status");
  const reason = JSON.stringify(list);
  const row = Object.values(REFUSALS).find((each) => reason.includes(`"reason":"${each.reason}"`));
  if (row === undefined) return wrong("Status", "has no known reason", reason);
  const { "1.0.1": status } = row.status;
  const http = row.http["1.0.1"];
  const error = { code: http, status, message, details: list };
  return { refusal: readRestError({ error }, http), status, shown: { error } };
}

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const { origin, pathname } = new URL(address);
  const [, agent] = /^\/agents\/([^/]+)/.exec(pathname) ?? [];
  const named =
    agent === undefined
      ? callerOptions.tenant
      : `agents/${agent}${callerOptions.tenant === undefined ? "" : `/${callerOptions.tenant}`}`;
  const { call, open } = createGrpcClient({
    origin,
    packageName: "lf.a2a.v1",
    headers: headersOf(callerOptions, "1.0", RULES.extensionsHeader.toLowerCase()),
    callerOptions,
    edition: "1.0.1",
    common: named === undefined ? {} : { tenant: named },
    readError,
    readEvent,
  });
  const task = (method: string, request: string, body: Fields): GrpcRequest => ({
    method,
    request,
    answer: "Task",
    body,
  });
  const webhook = "TaskPushNotificationConfig";
  return {
    send: (messageInput, options) =>
      call(
        {
          method: "SendMessage",
          request: "SendMessageRequest",
          answer: "SendMessageResponse",
          body: sendRequest(messageInput, options),
          after: options?.after,
        },
        readSent,
      ),
    stream: (messageInput, options) =>
      open({
        method: "SendStreamingMessage",
        request: "SendMessageRequest",
        body: sendRequest(messageInput, options),
        after: options?.after,
      }),
    get: (id, historyLength) =>
      call(task("GetTask", "GetTaskRequest", { id, ...(historyLength !== undefined && { historyLength }) }), (value) =>
        readTask(value),
      ),
    list: (query) =>
      call(
        { method: "ListTasks", request: "ListTasksRequest", answer: "ListTasksResponse", body: listRequest(query) },
        (value) => readPage({ tasks: [], nextPageToken: "", totalSize: 0, ...asObject(value, "page") }),
      ),
    cancel: (id, metadata) =>
      call(task("CancelTask", "CancelTaskRequest", { id, ...(metadata !== undefined && { metadata }) }), (value) =>
        readTask(value),
      ),
    subscribe: (id, after) =>
      open({ method: "SubscribeToTask", request: "SubscribeToTaskRequest", body: { id }, after }),
    extendedCard: () =>
      call(
        { method: "GetExtendedAgentCard", request: "GetExtendedAgentCardRequest", answer: "AgentCard", body: {} },
        (value) => asObject(value, "card"),
      ),
    pushCreate: (taskId, config) =>
      call(
        {
          method: "CreateTaskPushNotificationConfig",
          request: webhook,
          answer: webhook,
          body: { taskId, ...writeFlatWebhook(config) },
        },
        (value) => readFlatWebhook(value, taskId),
      ),
    pushGet: (taskId, id = "") =>
      call(
        {
          method: "GetTaskPushNotificationConfig",
          request: "GetTaskPushNotificationConfigRequest",
          answer: webhook,
          body: { taskId, id },
        },
        (value) => readFlatWebhook(value, taskId),
      ),
    pushList: (taskId, page) =>
      call(
        {
          method: "ListTaskPushNotificationConfigs",
          request: "ListTaskPushNotificationConfigsRequest",
          answer: "ListTaskPushNotificationConfigsResponse",
          body: { taskId, ...page },
        },
        (value) =>
          readWebhookPage({ configs: [], nextPageToken: "", ...asObject(value, "list") }, (each) =>
            readFlatWebhook(each, taskId),
          ),
      ),
    pushDelete: (taskId, id) =>
      call(
        {
          method: "DeleteTaskPushNotificationConfig",
          request: "DeleteTaskPushNotificationConfigRequest",
          answer: "google.protobuf.Empty",
          body: { taskId, id },
        },
        readEmpty,
      ),
  };
}
