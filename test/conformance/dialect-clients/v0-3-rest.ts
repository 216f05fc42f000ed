import type { Caller, CallerOptions, DialectClient, MessageInput, SendOptions } from "../dialect-client.ts";
import type { Fields, Page, Webhook } from "../neutral.ts";
import { asObject, listOf, objectWith, wrong } from "../strict.ts";
import { readEmpty, readWebhook, readWebhookPage, writeWebhook } from "./push-shapes.ts";
import { createRestClient, headersOf, type RestRequest } from "./rest-client.ts";
import { createReaders, type Readers, sameAs } from "./shapes.ts";
import { readPushed, sendRequest } from "./v0-3-jsonrpc.ts";
import { PROTO_RULES, PROTO_SPELLING, writeProtoMessage } from "./v0-3-proto-shapes.ts";
import { RULES_0_3, readError, SPELLING_0_3 } from "./v0-3-shapes.ts";

type Style = "json" | "proto";

/** REST 0.3 with bodies in the style of JSON-RPC. */
export const restJson0_3: DialectClient = {
  dialect: "0.3/rest-json",
  version: "0.3",
  binding: "rest",
  rules: { ...RULES_0_3, list: "array" },
  readPushed,
  at: (address, callerOptions) => callerAt(address, callerOptions, "json"),
};

/** REST 0.3 with bodies in proto JSON. */
export const restProto0_3: DialectClient = {
  dialect: "0.3/rest-proto",
  version: "0.3",
  binding: "rest",
  rules: PROTO_RULES,
  readPushed,
  at: (address, callerOptions) => callerAt(address, callerOptions, "proto"),
};

const BARE = createReaders(SPELLING_0_3);

/** An event appears twice: bare, and as `result`. An error likewise, as `error`. */
function once(value: unknown, name: "result" | "error"): unknown {
  const { [name]: copy, ...original } = asObject(value, "body");
  sameAs(copy, original, name);
  return original;
}

const READERS: Readonly<Record<Style, Readers>> = {
  json: { ...BARE, readEvent: (value) => BARE.readEvent(once(value, "result")) },
  proto: createReaders(PROTO_SPELLING),
};

export function protoRequest(messageInput: MessageInput, options: SendOptions = {}): Fields {
  const { wait, history, outputModes, metadata, push } = options;
  const configuration = {
    ...(wait !== undefined && { blocking: wait }),
    ...(history !== undefined && { historyLength: history }),
    ...(outputModes !== undefined && { acceptedOutputModes: outputModes }),
    ...(push !== undefined && { pushNotification: writeWebhook(push) }),
  };
  return {
    message: writeProtoMessage(messageInput),
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Reads either style. */
const EITHER: Pick<Readers, "readTask" | "readEvent"> = {
  readTask: (value, path) => READERS[styleOf(value)].readTask(value, path),
  readEvent: (value) => READERS[styleOf(value)].readEvent(value),
};

function styleOf(value: unknown): Style {
  return asObject(value, "body")["kind"] === undefined ? "proto" : "json";
}

function callerAt(address: string, callerOptions: CallerOptions = {}, style: Style): Caller {
  const client = createRestClient({
    base: `${address}/v1`,
    headers: headersOf(callerOptions, undefined, RULES_0_3.extensionsHeader),
    mediaType: "application/json",
    callerOptions,
    edition: "0.3",
    readError: (value) => readError(once(value, "error")),
  });
  const own = READERS[style];
  const shown = callerOptions.bodyless ?? style;
  const { readTask, readEvent } = callerOptions.bodyless === undefined ? own : EITHER;
  // A task is referred to by id, or by resource name.
  const named = (id: string): Fields => (style === "json" ? { id } : { name: `tasks/${id}` });
  const plainly = callerOptions.showStyle !== true;
  const request = style === "json" ? sendRequest : protoRequest;
  const task = (id: string) => `/tasks/${encodeURIComponent(id)}`;
  const configs = (id: string) => `${task(id)}/pushNotificationConfigs`;
  const config = (id: string, configId: string) => `${configs(id)}/${encodeURIComponent(configId)}`;
  const resume = (after: string | undefined) => (after === undefined ? {} : { headers: { "last-event-id": after } });
  const get = (path: string, query?: RestRequest["query"]): RestRequest => ({
    method: "GET",
    path,
    ...(query !== undefined && { query }),
  });
  const post = (path: string, body: Fields): RestRequest => ({ method: "POST", path, body });
  return {
    send: (messageInput, options) =>
      client.call(
        { ...post("/message:send", request(messageInput, options)), ...resume(options?.after) },
        own.readSent,
      ),
    stream: (messageInput, options) =>
      client.open(
        { ...post("/message:stream", request(messageInput, options)), ...resume(options?.after) },
        own.readEvent,
      ),
    get: (id, history) => client.call(get(task(id), { historyLength: history }), (value) => readTask(value)),
    list: () =>
      client.call(
        get("/tasks"),
        (value): Page => ({
          tasks: listOf(readTask)(value, "tasks"),
          nextPageToken: undefined,
          pageSize: undefined,
          totalSize: undefined,
        }),
      ),
    cancel: (id) =>
      plainly
        ? client.call({ method: "POST", path: `${task(id)}:cancel` }, (value) => readTask(value))
        : client.call(post(`${task(id)}:cancel`, named(id)), (value) => own.readTask(value)),
    subscribe: (id, after) =>
      plainly
        ? client.open({ ...get(`${task(id)}:subscribe`), ...resume(after) }, readEvent)
        : client.open({ ...post(`${task(id)}:subscribe`, named(id)), ...resume(after) }, own.readEvent),
    extendedCard: () => client.call(get("/card"), (value) => asObject(value, "card")),
    pushCreate: (id, webhook) =>
      client.call(post(configs(id), configBody(id, writeWebhook(webhook), style)), (value) =>
        readResource(value, id, style),
      ),
    pushGet: (id, configId = "") => client.call(get(config(id, configId)), (value) => readResource(value, id, shown)),
    pushList: (id) =>
      client.call(get(configs(id)), (value) => readWebhookPage(value, (each) => readResource(each, id, shown))),
    pushDelete: (id, configId) => client.call({ method: "DELETE", path: config(id, configId) }, readEmpty),
  };
}

/** In the style of the 0.3 text, or as a proto resource. */
function configBody(taskId: string, webhook: Fields, style: Style): Fields {
  if (style === "json") return { config: webhook };
  return { name: `tasks/${taskId}/pushNotificationConfigs/`, pushNotificationConfig: webhook };
}

/** In REST, webhooks are resources whose names end with their ids. */
function readResource(value: unknown, taskId: string, style: Style): Webhook {
  const fields = objectWith(value, "config", {
    required: ["name", "pushNotificationConfig", ...(style === "json" ? ["taskId"] : [])],
    optional: style === "json" ? ["success"] : [],
  });
  const webhook = readWebhook(
    fields["pushNotificationConfig"],
    "id",
    ...(style === "json" ? ["headers" as const] : []),
  );
  if (fields["name"] !== `tasks/${taskId}/pushNotificationConfigs/${webhook.id}`)
    wrong("config.name", "is wrong", fields);
  if (style === "json" && fields["taskId"] !== taskId) wrong("config.taskId", "is not that of the task", fields);
  return webhook;
}
