import { invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Operation, OperationRequest, PushConfig, SendRequest } from "../../protocol/operation.ts";
import {
  asId,
  asObject,
  member,
  optionalBoolean,
  optionalId,
  optionalInteger,
  optionalJsonObject,
  optionalStrings,
  type WireObject,
} from "../fields/fields.ts";
import type { Parsing } from "../fields/parsing.ts";
import type { WaitDefault } from "../options.ts";
import {
  type Authentication,
  asHeaderText,
  decodePushConfig as decodeShared,
  optionalHeaderText,
} from "../push/push-config.ts";
import { decodeMessage } from "./message.ts";

/** Tasks per page: lists of REST 0.3 have no page size. */
const LIST_SIZE = 100;

/** How requests are parsed, by the settings of the server. */
export interface RequestParsing extends Parsing {
  /** The default of `blocking`. */
  readonly absentWait: WaitDefault;
}

/** Decodes the parameters of JSON-RPC 0.2 and 0.3. These versions have no tenants. Throws `invalid-params`. */
export function decodeRequest(operation: Operation, params: unknown, parsing: RequestParsing): OperationRequest {
  const wire = asObject(params ?? {}, "params");
  const tenant = "";
  switch (operation) {
    case "send":
    case "stream":
      return decodeSend(operation, wire, parsing);
    case "get":
      return { operation, tenant, id: decodeOwnId(wire, parsing), history: decodeHistoryLength(wire, "") };
    case "list":
      return { operation, tenant, pageSize: LIST_SIZE, artifacts: true, history: decodeHistoryLength(wire, "") };
    case "cancel": {
      const metadata = optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
      return { operation, tenant, id: decodeTaskId(wire), metadata };
    }
    case "subscribe":
      return { operation, tenant, id: decodeOwnId(wire, parsing) };
    case "push-create": {
      const taskId = asId(member(wire, "taskId"), "taskId") as TaskId;
      const config = decodePushMember(wire, "pushNotificationConfig", "");
      return { operation, tenant, taskId, config };
    }
    case "push-get": {
      const id = optionalId(member(wire, "pushNotificationConfigId"), "pushNotificationConfigId");
      return { operation, tenant, taskId: decodeTaskId(wire), ...(id !== undefined && { id }) };
    }
    case "push-list":
      return { operation, tenant, taskId: decodeTaskId(wire) };
    case "push-delete": {
      const id = asId(member(wire, "pushNotificationConfigId"), "pushNotificationConfigId");
      return { operation, tenant, taskId: decodeTaskId(wire), id };
    }
    case "extended-card":
      return { operation, tenant };
  }
}

/** Some callers write `taskId`, as in the push methods, instead of `id`. */
function decodeOwnId(wire: WireObject, { lenient }: Parsing): TaskId {
  return asId(member(wire, "id", lenient ? "taskId" : undefined), "id") as TaskId;
}

function decodeTaskId(wire: WireObject): TaskId {
  return asId(member(wire, "id"), "id") as TaskId;
}

/** Decodes `MessageSendParams` (A2A 0.3 §7.1.1). */
export function decodeSend(operation: "send" | "stream", wire: WireObject, parsing: RequestParsing): SendRequest {
  const message = decodeMessage(parsing.lenient ? withStrayId(wire) : member(wire, "message"), "message", parsing);
  const metadata = optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
  const configuration = asObject(member(wire, "configuration") ?? {}, "configuration");
  const pushName = pushMemberOf(configuration, parsing);
  const blocking = optionalBoolean(member(configuration, "blocking"), "configuration.blocking");
  return {
    operation,
    tenant: "",
    message,
    metadata,
    outputModes:
      optionalStrings(member(configuration, "acceptedOutputModes"), "configuration.acceptedOutputModes") ?? [],
    history: decodeHistoryLength(configuration, "configuration."),
    // A caller with a webhook that omits `blocking` does not need to wait.
    waitMs: decodeWait(blocking, pushName !== undefined ? "return" : parsing.absentWait),
    ...(pushName !== undefined && { push: decodePushMember(configuration, pushName, "configuration.") }),
  };
}

/** An example in the specification has `messageId` beside the message; this moves it into the message. */
function withStrayId(wire: WireObject): unknown {
  const message = member(wire, "message");
  const stray = member(wire, "messageId");
  if (stray === undefined || message === undefined) return message;
  const wireMessage = asObject(message, "message");
  return member(wireMessage, "messageId") === undefined ? { ...wireMessage, messageId: stray } : wireMessage;
}

/** How long a send waits, in milliseconds. `absent` applies if the request has no `blocking`. */
export function decodeWait(blocking: boolean | undefined, absent: WaitDefault): number {
  if (blocking ?? absent === "wait") return Number.POSITIVE_INFINITY;
  return blocking === undefined && typeof absent === "number" ? absent : 0;
}

/**
 * Absent and 0 differ: the server's default, and no history. 0.3 defines only positive numbers; a string is rejected, unlike in ProtoJSON.
 * `path` is empty or ends with a dot.
 */
export function decodeHistoryLength(wire: WireObject, path: string): number | undefined {
  const value = member(wire, "historyLength");
  if (typeof value === "string") throw invalidField(`${path}historyLength`, "must be an integer, not a string");
  const length = optionalInteger(value, `${path}historyLength`);
  if (length !== undefined && length < 0) throw invalidField(`${path}historyLength`, "must not be negative");
  return length;
}

type PushMember = "pushNotificationConfig" | "pushNotification";

/** Some callers use `pushNotification`, the name in the proto definition. */
function pushMemberOf(configuration: WireObject, { lenient }: Parsing): PushMember | undefined {
  if (member(configuration, "pushNotificationConfig") !== undefined) return "pushNotificationConfig";
  return lenient && member(configuration, "pushNotification") !== undefined ? "pushNotification" : undefined;
}

function decodePushMember(wire: WireObject, name: PushMember, path: string): PushConfig {
  const config = member(wire, name);
  if (config === undefined) throw invalidField(`${path}${name}`, "is required");
  return decodePushConfig(asObject(config, `${path}${name}`), `${path}${name}.`);
}

/** Decodes a webhook; all versions of 0.x have the same format. `path` is empty or ends with a dot. */
export function decodePushConfig(wire: WireObject, path: string): PushConfig {
  return decodeShared(wire, path, decodeAuthentication);
}

/** An empty object counts as absent, because some callers always write it. */
function decodeAuthentication(value: unknown, path: string): Authentication | undefined {
  const wire = asObject(value, path);
  const schemes = optionalStrings(member(wire, "schemes"), `${path}.schemes`);
  for (const [index, scheme] of schemes?.entries() ?? []) asHeaderText(scheme, `${path}.schemes[${index}]`);
  const credentials = optionalHeaderText(member(wire, "credentials"), `${path}.credentials`);
  if (schemes === undefined && credentials === undefined) return undefined;
  const [first, ...others] = schemes ?? [];
  if (first === undefined) throw invalidField(`${path}.schemes`, "must have at least one scheme");
  return { schemes: [first, ...others], ...(credentials !== undefined && { credentials }) };
}
