import type { Fields, Page } from "../neutral.ts";
import type { Caller, Manner, Saying, SendOptions, Speaker } from "../speaker.ts";
import { asObject, listOf } from "../strict.ts";
import { createRestClient, headersOf, type RestRequest } from "./rest-client.ts";
import { createReaders, type Readers } from "./shapes.ts";
import { sendRequest } from "./v0-3-jsonrpc.ts";
import { PROTO_RULES, PROTO_SPELLING, writeProtoMessage } from "./v0-3-proto-shapes.ts";
import { RULES_0_3, readError, spelling0_3 } from "./v0-3-shapes.ts";

type Style = "json" | "proto";

/** REST 0.3 with bodies that look like JSON-RPC's. */
export const restJson0_3: Speaker = {
  dialect: "0.3/rest-json",
  version: "0.3",
  binding: "rest",
  rules: { ...RULES_0_3, list: "array" },
  at: (address, manner) => callerAt(address, manner, "json"),
};

/** REST 0.3 with bodies as the proto definition makes them. */
export const restProto0_3: Speaker = {
  dialect: "0.3/rest-proto",
  version: "0.3",
  binding: "rest",
  rules: PROTO_RULES,
  at: (address, manner) => callerAt(address, manner, "proto"),
};

const READERS: Readonly<Record<Style, Readers>> = {
  json: createReaders(spelling0_3(true)),
  proto: createReaders(PROTO_SPELLING),
};

function protoRequest(saying: Saying, options: SendOptions = {}): Fields {
  const { wait, history, outputModes, metadata, push } = options;
  const configuration = {
    ...(wait !== undefined && { blocking: wait }),
    ...(history !== undefined && { historyLength: history }),
    ...(outputModes !== undefined && { acceptedOutputModes: outputModes }),
    ...(push !== undefined && { pushNotification: { url: push } }),
  };
  return {
    message: writeProtoMessage(saying),
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(metadata !== undefined && { metadata }),
  };
}

function callerAt(address: string, manner: Manner = {}, style: Style): Caller {
  const client = createRestClient({
    base: `${address}/v1`,
    headers: headersOf(manner, undefined, RULES_0_3.extensionsHeader),
    mediaType: "application/json",
    manner,
    edition: "0.3",
    readError,
  });
  const own = READERS[style];
  const { readTask, readTold } = READERS[manner.bodyless ?? style];
  // A task is named by its id, or as a resource.
  const named = (id: string): Fields => (style === "json" ? { id } : { name: `tasks/${id}` });
  const plainly = manner.showStyle !== true;
  const request = style === "json" ? sendRequest : protoRequest;
  const task = (id: string) => `/tasks/${encodeURIComponent(id)}`;
  const configs = (id: string) => `${task(id)}/pushNotificationConfigs`;
  const resume = (after: string | undefined) => (after === undefined ? {} : { headers: { "last-event-id": after } });
  const get = (path: string, query?: RestRequest["query"]): RestRequest => ({
    method: "GET",
    path,
    ...(query !== undefined && { query }),
  });
  const post = (path: string, body: Fields): RestRequest => ({ method: "POST", path, body });
  return {
    send: (saying, options) =>
      client.call({ ...post("/message:send", request(saying, options)), ...resume(options?.after) }, own.readSent),
    stream: (saying, options) =>
      client.open({ ...post("/message:stream", request(saying, options)), ...resume(options?.after) }, own.readTold),
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
        ? client.open({ ...get(`${task(id)}:subscribe`), ...resume(after) }, readTold)
        : client.open({ ...post(`${task(id)}:subscribe`, named(id)), ...resume(after) }, own.readTold),
    extendedCard: () => client.call(get("/card"), (value) => asObject(value, "card")),
    pushCreate: (id, url) => client.call(post(configs(id), { config: { url } }), (value) => value),
    pushGet: (id, configId) => client.call(get(`${configs(id)}/${configId}`), (value) => value),
    pushList: (id) => client.call(get(configs(id)), (value) => value),
    pushDelete: (id, configId) =>
      client.call({ method: "DELETE", path: `${configs(id)}/${configId}` }, (value) => value),
  };
}
