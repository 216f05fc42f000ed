import { invalidField } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import { asObject, type WireObject } from "../fields/fields.ts";

/** Parsers of query parameters (A2A 1.0 §11.5). Names are accepted in camelCase and snake_case. */
const QUERY = {
  tenant: { alias: undefined, read: asIs },
  contextId: { alias: "context_id", read: asIs },
  status: { alias: undefined, read: nameOrNumber },
  pageSize: { alias: "page_size", read: integer },
  pageToken: { alias: "page_token", read: asIs },
  historyLength: { alias: "history_length", read: integer },
  statusTimestampAfter: { alias: "status_timestamp_after", read: asIs },
  includeArtifacts: { alias: "include_artifacts", read: boolean },
} as const;

type QueryName = keyof typeof QUERY;

/** Where an operation has its parameters besides the path: in the body, or in these query parameters. */
const SOURCES: Readonly<Record<Operation, "body" | readonly QueryName[]>> = {
  send: "body",
  stream: "body",
  cancel: "body",
  subscribe: "body",
  "push-create": "body",
  get: ["tenant", "historyLength"],
  list: [
    "tenant",
    "contextId",
    "status",
    "pageSize",
    "pageToken",
    "historyLength",
    "statusTimestampAfter",
    "includeArtifacts",
  ],
  "push-get": ["tenant"],
  "push-list": ["tenant", "pageSize", "pageToken"],
  "push-delete": ["tenant"],
  "extended-card": ["tenant"],
};

/**
 * Converts a request to the parameters of JSON-RPC, so that both bindings share the decoder and its errors. Path parameters take precedence.
 * Operations with a body are read from the body, and only `tenant` from the query; all others are read from the query. Other parameters
 * are ignored.
 *
 * Errors use the names of JSON-RPC: `id` is the task's id, except for webhooks, where `taskId` is the task's id and `id` the webhook's. A
 * body that is not an object is named `body`.
 */
export function paramsOf(operation: Operation, { path, query, body }: RestRequest): WireObject {
  const source = SOURCES[operation];
  const params = source === "body" ? bodyParams(body, query) : queryParams(query, source);
  return { ...params, ...(operation.startsWith("push-") ? pushPath(path) : path) };
}

/** A missing body counts as an empty object. */
function bodyParams(body: unknown, query: URLSearchParams): WireObject {
  const params = asObject(body ?? {}, "body");
  if (query.size === 0) return params;
  const tenant = params["tenant"] ?? "";
  return tenant === "" ? { ...params, ...queryParams(query, ["tenant"]) } : params;
}

/** The path `/tasks/{id}/pushNotificationConfigs/{configId}` has other names than JSON-RPC, where `id` is the webhook's id. */
function pushPath({ id, configId, ...rest }: RestRequest["path"]): WireObject {
  return { ...rest, ...(id !== undefined && { taskId: id }), ...(configId !== undefined && { id: configId }) };
}

/** Only known parameters: `A2A-Version` and others may stand beside them. */
function queryParams(query: URLSearchParams, names: readonly QueryName[]): WireObject {
  const params: Record<string, unknown> = {};
  if (query.size === 0) return params;
  for (const name of names) {
    const text = queryText(query, name, QUERY[name].alias);
    if (text !== "") params[name] = QUERY[name].read(text, name);
  }
  return params;
}

/** Empty if the parameter is absent, which means the same. */
export function queryText(query: URLSearchParams, name: string, alias: string | undefined): string {
  const texts = alias === undefined ? query.getAll(name) : [...query.getAll(name), ...query.getAll(alias)];
  const [text = "", ...others] = texts;
  if (others.length > 0) throw invalidField(name, "must be given only once");
  // URLSearchParams replaces invalid UTF-8 with this character.
  if (text.includes("\uFFFD")) throw invalidField(name, "must be percent-encoded UTF-8");
  return text;
}

function asIs(text: string): string {
  return text;
}

function integer(text: string, name: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw invalidField(name, "must be an integer");
  return Number(text);
}

function boolean(text: string, name: string): boolean {
  if (text !== "true" && text !== "false") throw invalidField(name, "must be true or false");
  return text === "true";
}

/** Enums may be names or numbers; the decoder rejects unknown values. */
function nameOrNumber(text: string): string | number {
  return /^\d{1,3}$/.test(text) ? Number(text) : text;
}
