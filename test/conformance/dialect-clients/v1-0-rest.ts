import type { Caller, CallerOptions, DialectClient } from "../dialect-client.ts";
import type { Fields } from "../neutral.ts";
import { asObject } from "../strict.ts";
import { readEmpty, readFlatWebhook, readWebhookPage, writeFlatWebhook } from "./push-shapes.ts";
import { createRestClient, headersOf, type RestRequest } from "./rest-client.ts";
import { listRequest, RULES, sendRequest } from "./v1-0-requests.ts";
import { READERS, readPage, readRestError } from "./v1-0-shapes.ts";

export const rest1_0: DialectClient = {
  dialect: "1.0/rest",
  version: "1.0",
  binding: "rest",
  rules: RULES,
  readPushed: READERS.readEvent,
  at: callerAt,
};

const { readTask, readSent, readEvent } = READERS;

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const { tenant, tenantIn = "path", edition = "1.0.1" } = callerOptions;
  const client = createRestClient({
    base: tenant !== undefined && tenantIn === "path" ? `${address}/${encodeURIComponent(tenant)}` : address,
    headers: headersOf(callerOptions, "1.0", RULES.extensionsHeader),
    mediaType: "application/a2a+json",
    callerOptions,
    edition,
    readError: (value, status) => readRestError(value, status, edition),
  });
  const inQuery = tenant !== undefined && tenantIn === "query" ? { tenant } : {};
  const inBody = tenant !== undefined && tenantIn === "body" ? { tenant } : {};
  const read = (path: string, query: RestRequest["query"] = {}): RestRequest => ({
    method: "GET",
    path,
    // A request without a body can carry its tenant only in the query.
    query: { ...query, ...inQuery, ...inBody },
  });
  const write = (path: string, body: Fields): RestRequest => ({
    method: "POST",
    path,
    query: inQuery,
    body: { ...inBody, ...body },
  });
  const task = (id: string) => `/tasks/${encodeURIComponent(id)}`;
  const configs = (id: string) => `${task(id)}/pushNotificationConfigs`;
  const config = (id: string, configId: string) => `${configs(id)}/${encodeURIComponent(configId)}`;
  const resume = (after: string | undefined) => (after === undefined ? {} : { headers: { "last-event-id": after } });
  return {
    send: (messageInput, options) =>
      client.call(
        { ...write("/message:send", sendRequest(messageInput, options)), ...resume(options?.after) },
        readSent,
      ),
    stream: (messageInput, options) =>
      client.open(
        { ...write("/message:stream", sendRequest(messageInput, options)), ...resume(options?.after) },
        readEvent,
      ),
    get: (id, history) => client.call(read(task(id), { historyLength: history }), (value) => readTask(value)),
    list: (query) => client.call(read("/tasks", listRequest(query)), readPage),
    cancel: (id, metadata) =>
      client.call(write(`${task(id)}:cancel`, metadata === undefined ? {} : { metadata }), (value) => readTask(value)),
    subscribe: (id, after) => client.open({ ...read(`${task(id)}:subscribe`), ...resume(after) }, readEvent),
    extendedCard: () => client.call(read("/extendedAgentCard"), (value) => asObject(value, "card")),
    pushCreate: (taskId, webhook) =>
      client.call(write(configs(taskId), writeFlatWebhook(webhook)), (value) => readFlatWebhook(value, taskId)),
    pushGet: (taskId, id = "") => client.call(read(config(taskId, id)), (value) => readFlatWebhook(value, taskId)),
    pushList: (taskId, page) =>
      client.call(read(configs(taskId), { ...page }), (value) =>
        readWebhookPage(value, (each) => readFlatWebhook(each, taskId)),
      ),
    pushDelete: (taskId, id) =>
      client.call({ method: "DELETE", path: config(taskId, id), query: { ...inQuery, ...inBody } }, readEmpty),
  };
}
