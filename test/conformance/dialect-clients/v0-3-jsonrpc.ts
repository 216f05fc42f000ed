import type { Caller, CallerOptions, DialectClient, MessageInput, Outcome, SendOptions } from "../dialect-client.ts";
import type { Fields, Page, StreamEvent, Webhook } from "../neutral.ts";
import type { Refusal } from "../refusals.ts";
import { asList, asObject, objectWith, wrong } from "../strict.ts";
import { readNothing, readWebhook, writeWebhook } from "./push-shapes.ts";
import { headersOf } from "./rest-client.ts";
import { createRpcClient } from "./rpc-client.ts";
import { createReaders } from "./shapes.ts";
import { RULES_0_3, readError, SPELLING_0_3, writeMessage } from "./v0-3-shapes.ts";

export const jsonRpc0_3: DialectClient = {
  dialect: "0.3/jsonrpc",
  version: "0.3",
  binding: "jsonrpc",
  rules: RULES_0_3,
  readPushed,
  // 0.3 clients send no version header.
  at: (address, callerOptions) => createCaller(address, callerOptions, { claim: undefined, readError }),
};

const { readTask, readSent, readEvent } = createReaders(SPELLING_0_3);

/** All bindings of 0.2 and 0.3 notify webhooks with the bare task. */
export function readPushed(value: unknown): StreamEvent {
  return { kind: "task", task: readTask(value) };
}

function readOwner(value: unknown, id: string): Webhook {
  const { taskId, pushNotificationConfig } = objectWith(value, "config", {
    required: ["taskId", "pushNotificationConfig"],
    // After a create.
    optional: ["success"],
  });
  if (taskId !== id) wrong("config.taskId", "is not that of the task", value);
  return readWebhook(pushNotificationConfig, "id", "headers");
}

/** Also the body of REST. */
export function sendRequest(messageInput: MessageInput, options: SendOptions = {}): Fields {
  const { wait, history, outputModes, metadata, push } = options;
  const configuration = {
    ...(wait !== undefined && { blocking: wait }),
    ...(history !== undefined && { historyLength: history }),
    ...(outputModes !== undefined && { acceptedOutputModes: outputModes }),
    ...(push !== undefined && { pushNotificationConfig: writeWebhook(push) }),
  };
  return {
    message: writeMessage(messageInput),
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(metadata !== undefined && { metadata }),
  };
}

interface Variant {
  /** The version that requests state by default. */
  readonly claim: string | undefined;
  readError(value: unknown): Refusal;
}

/** A caller of 0.3, or of 0.2, which has the same methods and objects. */
export function createCaller(
  address: string,
  callerOptions: CallerOptions = {},
  { claim, readError }: Variant,
): Caller {
  const client = createRpcClient({
    url: `${address}/a2a`,
    headers: headersOf(callerOptions, claim, RULES_0_3.extensionsHeader),
    callerOptions,
    eventErrors: ["message/stream", "tasks/resubscribe"],
    readError,
  });
  const resume = (after: string | undefined) => (after === undefined ? {} : { headers: { "last-event-id": after } });
  const push = (operation: string, params: Fields) => ({
    method: `tasks/pushNotificationConfig/${operation}`,
    params,
  });
  return {
    send: (messageInput, options) =>
      client.call(
        { method: "message/send", params: sendRequest(messageInput, options), ...resume(options?.after) },
        readSent,
      ),
    stream: (messageInput, options) =>
      client.open(
        { method: "message/stream", params: sendRequest(messageInput, options), ...resume(options?.after) },
        readEvent,
      ),
    get: (id, history) =>
      client.call(
        { method: "tasks/get", params: { id, ...(history !== undefined && { historyLength: history }) } },
        (value) => readTask(value),
      ),
    list: (): Promise<Outcome<Page>> => Promise.reject(new Error("JSON-RPC has no list before 1.0.")),
    cancel: (id, metadata) =>
      client.call({ method: "tasks/cancel", params: { id, ...(metadata !== undefined && { metadata }) } }, (value) =>
        readTask(value),
      ),
    subscribe: (id, after) => client.open({ method: "tasks/resubscribe", params: { id }, ...resume(after) }, readEvent),
    extendedCard: () =>
      client.call({ method: "agent/getAuthenticatedExtendedCard" }, (value) => asObject(value, "card")),
    pushCreate: (taskId, webhook) =>
      client.call(push("set", { taskId, pushNotificationConfig: writeWebhook(webhook) }), (value) =>
        readOwner(value, taskId),
      ),
    pushGet: (id, pushNotificationConfigId) =>
      client.call(
        push("get", { id, ...(pushNotificationConfigId !== undefined && { pushNotificationConfigId }) }),
        (value) => readOwner(value, id),
      ),
    pushList: (id) =>
      client.call(push("list", { id }), (value) => ({
        webhooks: asList(value, "configs").map((each) => readOwner(each, id)),
        nextPageToken: undefined,
      })),
    pushDelete: (id, pushNotificationConfigId) =>
      client.call(push("delete", { id, pushNotificationConfigId }), readNothing),
  };
}
