import type { WireObject } from "../fields/fields.ts";

/** The styles of REST 0.3: ProtoJSON, and the objects of JSON-RPC. */
export type Style = "proto" | "json";

/**
 * The style of a REST 0.3 request body; `undefined` if the body does not show it. Members that only one style can read decide first, then
 * the format of roles, then the case of member names.
 * `{"message":{"role":"ROLE_USER","content":[…]}}` is `proto`, `{"message":{"kind":"message","role":"user","parts":[…]}}` is `json`.
 */
export function styleOf(body: unknown): Style | undefined {
  if (!isObject(body)) return undefined;
  // The proto definition names the field `request`, with the JSON name `message`.
  const message = body["message"] ?? body["request"];
  if (isObject(message)) return messageStyle(message) ?? configurationStyle(body["configuration"]);
  return addressStyle(body) ?? configurationStyle(body["configuration"]);
}

function messageStyle(message: WireObject): Style | undefined {
  const { content, kind, parts, role } = message;
  if (content !== undefined) return "proto";
  if (kind !== undefined || (Array.isArray(parts) && parts.some(isTagged))) return "json";
  if (typeof role === "number" || (typeof role === "string" && role.startsWith("ROLE_"))) return "proto";
  if (typeof role === "string") return "json";
  if (hasSnakeCase(message)) return "proto";
  return parts === undefined ? undefined : "json";
}

/** Parts of the JSON style have `kind`, or `type` as in 0.1. */
function isTagged(part: unknown): boolean {
  return isObject(part) && (part["kind"] !== undefined || part["type"] !== undefined);
}

function configurationStyle(configuration: unknown): Style | undefined {
  if (!isObject(configuration)) return undefined;
  if (configuration["pushNotification"] !== undefined || hasSnakeCase(configuration)) return "proto";
  return configuration["pushNotificationConfig"] === undefined ? undefined : "json";
}

/** Other bodies identify the task by a resource name (proto) or by its id (json). */
function addressStyle(body: WireObject): Style | undefined {
  const { config } = body;
  const own = nameStyle(body);
  if (own !== undefined || !isObject(config)) return own;
  return config["url"] === undefined ? nameStyle(config) : "json";
}

function nameStyle(body: WireObject): Style | undefined {
  if (isResource(body["name"]) || isResource(body["parent"]) || body["configId"] !== undefined) return "proto";
  if (hasSnakeCase(body)) return "proto";
  return body["id"] === undefined && body["taskId"] === undefined ? undefined : "json";
}

function isResource(name: unknown): boolean {
  return typeof name === "string" && name.startsWith("tasks/");
}

/** Member names of the proto definition. Only the proto style accepts them. */
const SNAKE_CASE = [
  "message_id",
  "context_id",
  "task_id",
  "accepted_output_modes",
  "push_notification",
  "history_length",
  "config_id",
  "push_notification_config",
] as const;

function hasSnakeCase(object: WireObject): boolean {
  return SNAKE_CASE.some((name) => object[name] !== undefined);
}

function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
