import type { Caller, CallerOptions, DialectClient, Outcome, Rules } from "../dialect-client.ts";
import type { Fields, Webhook } from "../neutral.ts";
import { REFUSALS, type RefusalName } from "../refusals.ts";
import { asObject, objectWith, wrong } from "../strict.ts";
import {
  createGrpcClient,
  type GrpcRefusal,
  type GrpcRequest,
  type GrpcStatus,
  REDUCTION_GRPC,
} from "./grpc-client.ts";
import { asWebhook, readEmpty, readWebhook, readWebhookPage, writeWebhook } from "./push-shapes.ts";
import { headersOf } from "./rest-client.ts";
import { createReaders } from "./shapes.ts";
import { readPushed } from "./v0-3-jsonrpc.ts";
import { PROTO_RULES, PROTO_SPELLING } from "./v0-3-proto-shapes.ts";
import { protoRequest } from "./v0-3-rest.ts";

/** Errors are a status and a text, so that several errors of 0.3 look alike. There is no list. */
const RULES: Rules = {
  ...PROTO_RULES,
  list: "none",
  errorsAreText: true,
  requiredExtension: "InvalidParams",
};

/** 0.3 over gRPC. */
export const grpc0_3: DialectClient = {
  dialect: "0.3/grpc",
  version: "0.3",
  binding: "grpc",
  rules: RULES,
  reduction: REDUCTION_GRPC,
  readPushed,
  at: callerAt,
};

const { readTask, readSent, readEvent } = createReaders(PROTO_SPELLING);

/** The texts of errors that 0.3 defines begin with their names. */
const NAMES: Readonly<Record<string, RefusalName>> = {
  TaskNotFoundError: "TaskNotFound",
  TaskNotCancelableError: "TaskNotCancelable",
  PushNotificationNotSupportedError: "PushNotificationNotSupported",
  UnsupportedOperationError: "UnsupportedOperation",
  ContentTypeNotSupportedError: "ContentTypeNotSupported",
  AuthenticatedExtendedCardNotConfiguredError: "ExtendedCardNotConfigured",
};
/** Other errors have only their status. INVALID_ARGUMENT stands for every invalid request. */
const BY_STATUS: Readonly<Record<number, RefusalName>> = {
  3: "InvalidParams",
  7: "PermissionDenied",
  8: "ResourceExhausted",
  12: "MethodNotFound",
  16: "Unauthenticated",
};

function readError({ code, message, details }: GrpcStatus): GrpcRefusal {
  if (details.byteLength > 0) wrong("grpc-status-details-bin", "is not of 0.3");
  const name = NAMES[/^(\w+): /.exec(message)?.[1] ?? ""] ?? BY_STATUS[code];
  if (name === undefined) return wrong("grpc-message", "names no error", { code, message });
  const fields = name === "InvalidParams" ? fieldsIn(message) : [];
  const { "1.0.0": status } = REFUSALS[name].status;
  return { refusal: { name, message, facts: undefined, fields }, status, shown: { code, message } };
}

/** The text of an invalid field begins with its path. */
function fieldsIn(message: string): readonly string[] {
  return message.split("; ").flatMap((each) => /^([\w.[\]]+):? /.exec(each)?.[1] ?? []);
}

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const { origin, host, pathname } = new URL(address);
  const [, agent] = /^\/agents\/([^/]+)/.exec(pathname) ?? [];
  const { call, open } = createGrpcClient({
    origin,
    packageName: "a2a.v1",
    headers: {
      // The first label of the host name chooses the agent.
      ...(agent !== undefined && { ":authority": `${agent}.localhost:${new URL(`http://${host}`).port}` }),
      ...headersOf(callerOptions, undefined, RULES.extensionsHeader.toLowerCase()),
    },
    callerOptions,
    edition: "0.3",
    readError,
    readEvent,
  });
  const name = (id: string): string => `tasks/${id}`;
  const configName = (id: string, configId: string): string => `${name(id)}/pushNotificationConfigs/${configId}`;
  const task = (method: string, body: Fields): GrpcRequest => ({
    method,
    request: `${method}Request`,
    answer: "Task",
    body,
  });
  const config = "TaskPushNotificationConfig";
  return {
    send: (messageInput, options) =>
      call(
        {
          method: "SendMessage",
          request: "SendMessageRequest",
          answer: "SendMessageResponse",
          body: protoRequest(messageInput, options),
          after: options?.after,
        },
        readSent,
      ),
    stream: (messageInput, options) =>
      open({
        method: "SendStreamingMessage",
        request: "SendMessageRequest",
        body: protoRequest(messageInput, options),
        after: options?.after,
      }),
    get: (id, history) =>
      call(task("GetTask", { name: name(id), ...(history !== undefined && { historyLength: history }) }), (value) =>
        readTask(value),
      ),
    list: async (): Promise<Outcome<never>> => {
      throw new Error("0.3 has no list over gRPC.");
    },
    cancel: (id) => call(task("CancelTask", { name: name(id) }), (value) => readTask(value)),
    subscribe: (id, after) =>
      open({ method: "TaskSubscription", request: "TaskSubscriptionRequest", body: { name: name(id) }, after }),
    extendedCard: () =>
      call({ method: "GetAgentCard", request: "GetAgentCardRequest", answer: "AgentCard", body: {} }, (value) =>
        asObject(value, "card"),
      ),
    pushCreate: (id, webhook) =>
      call(
        {
          method: `Create${config}`,
          request: `Create${config}Request`,
          answer: config,
          body: {
            parent: name(id),
            configId: asWebhook(webhook).id ?? "",
            config: { name: configName(id, ""), pushNotificationConfig: writeWebhook(webhook) },
          },
        },
        (value) => readResource(value, id),
      ),
    pushGet: (id, configId = "") =>
      call(
        {
          method: `Get${config}`,
          request: `Get${config}Request`,
          answer: config,
          body: { name: configName(id, configId) },
        },
        (value) => readResource(value, id),
      ),
    pushList: (id, page) =>
      call(
        {
          method: `List${config}`,
          request: `List${config}Request`,
          answer: `List${config}Response`,
          body: { parent: name(id), ...page },
        },
        (value) =>
          readWebhookPage({ configs: [], nextPageToken: "", ...asObject(value, "list") }, (each) =>
            readResource(each, id),
          ),
      ),
    pushDelete: (id, configId) =>
      call(
        {
          method: `Delete${config}`,
          request: `Delete${config}Request`,
          answer: "google.protobuf.Empty",
          body: { name: configName(id, configId) },
        },
        readEmpty,
      ),
  };
}

/** Webhooks are resources whose names end with their ids. */
function readResource(value: unknown, taskId: string): Webhook {
  const fields = objectWith(value, "config", { required: ["name", "pushNotificationConfig"] });
  const webhook = readWebhook(fields["pushNotificationConfig"], "id");
  if (fields["name"] !== `tasks/${taskId}/pushNotificationConfigs/${webhook.id}`)
    wrong("config.name", "is wrong", fields);
  return webhook;
}
