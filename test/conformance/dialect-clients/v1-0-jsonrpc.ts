import type { Caller, CallerOptions, DialectClient } from "../dialect-client.ts";
import { asObject } from "../strict.ts";
import { readFlatWebhook, readNothing, readWebhookPage, writeFlatWebhook } from "./push-shapes.ts";
import { headersOf } from "./rest-client.ts";
import { createRpcClient } from "./rpc-client.ts";
import { listRequest, RULES, sendRequest } from "./v1-0-requests.ts";
import { READERS, readPage, readRpcError } from "./v1-0-shapes.ts";

export const jsonRpc1_0: DialectClient = {
  dialect: "1.0/jsonrpc",
  version: "1.0",
  binding: "jsonrpc",
  rules: RULES,
  readPushed: READERS.readEvent,
  at: callerAt,
};

const { readTask, readSent, readEvent } = READERS;

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const client = createRpcClient({
    url: `${address}/`,
    headers: headersOf(callerOptions, "1.0", RULES.extensionsHeader),
    callerOptions,
    readError: readRpcError,
  });
  const tenant = callerOptions.tenant === undefined ? {} : { tenant: callerOptions.tenant };
  const resume = (after: string | undefined) => (after === undefined ? {} : { headers: { "last-event-id": after } });
  const push = (operation: string, params: object) => ({
    method: `${operation}TaskPushNotificationConfig`,
    params: { ...tenant, ...params },
  });
  return {
    send: (messageInput, options) =>
      client.call(
        {
          method: "SendMessage",
          params: { ...tenant, ...sendRequest(messageInput, options) },
          ...resume(options?.after),
        },
        readSent,
      ),
    stream: (messageInput, options) =>
      client.open(
        {
          method: "SendStreamingMessage",
          params: { ...tenant, ...sendRequest(messageInput, options) },
          ...resume(options?.after),
        },
        readEvent,
      ),
    get: (id, history) =>
      client.call(
        { method: "GetTask", params: { ...tenant, id, ...(history !== undefined && { historyLength: history }) } },
        (value) => readTask(value),
      ),
    list: (query) => client.call({ method: "ListTasks", params: { ...tenant, ...listRequest(query) } }, readPage),
    cancel: (id, metadata) =>
      client.call(
        { method: "CancelTask", params: { ...tenant, id, ...(metadata !== undefined && { metadata }) } },
        (value) => readTask(value),
      ),
    subscribe: (id, after) =>
      client.open({ method: "SubscribeToTask", params: { ...tenant, id }, ...resume(after) }, readEvent),
    extendedCard: () =>
      client.call({ method: "GetExtendedAgentCard", params: tenant }, (value) => asObject(value, "card")),
    pushCreate: (taskId, webhook) =>
      client.call(push("Create", { taskId, ...writeFlatWebhook(webhook) }), (value) => readFlatWebhook(value, taskId)),
    pushGet: (taskId, id) => client.call(push("Get", { taskId, id }), (value) => readFlatWebhook(value, taskId)),
    pushList: (taskId, page) =>
      client.call({ method: "ListTaskPushNotificationConfigs", params: { ...tenant, taskId, ...page } }, (value) =>
        readWebhookPage(value, (each) => readFlatWebhook(each, taskId)),
      ),
    pushDelete: (taskId, id) => client.call(push("Delete", { taskId, id }), readNothing),
  };
}
