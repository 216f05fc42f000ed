import { invalidField } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type {
  ListRequest,
  Operation,
  OperationRequest,
  PushListRequest,
  SendRequest,
} from "../../protocol/operation.ts";
import {
  asId,
  asObject,
  member,
  optionalBoolean,
  optionalId,
  optionalInteger,
  optionalJsonObject,
  optionalString,
  optionalStrings,
  type WireObject,
} from "../fields/fields.ts";
import { decodeIdToken, decodePageToken } from "../fields/page-token.ts";
import { decodeTimestamp } from "../fields/timestamp.ts";
import { type Authentication, asHeaderText, decodePushConfig, optionalHeaderText } from "../push/push-config.ts";
import { decodeMessage } from "./message.ts";
import { decodeStateFilter } from "./task.ts";

/** The page sizes of A2A 1.0 §3.1.4. */
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

/**
 * Decodes the parameters of JSON-RPC; REST converts its requests to the same object first. Unknown members are ignored (A2A 1.0 §5.7), and
 * names are accepted in snake_case too. Throws `invalid-params`.
 */
export function decodeRequest(operation: Operation, params: unknown): OperationRequest {
  const wire = asObject(params ?? {}, "params");
  const tenant = optionalId(member(wire, "tenant"), "tenant") ?? "";
  switch (operation) {
    case "send":
    case "stream":
      return decodeSend(wire, operation, tenant);
    case "get":
      return { operation, tenant, id: decodeTaskId(wire, "id"), history: decodeHistoryLength(wire, "") };
    case "list":
      return decodeList(wire, tenant);
    case "cancel":
      return {
        operation,
        tenant,
        id: decodeTaskId(wire, "id"),
        metadata: optionalJsonObject(member(wire, "metadata"), "metadata") ?? {},
      };
    case "subscribe":
      return { operation, tenant, id: decodeTaskId(wire, "id") };
    case "push-create":
      return {
        operation,
        tenant,
        taskId: decodeTaskId(wire, "taskId", "task_id"),
        config: decodePushConfig(wire, "", decodeAuthentication),
      };
    case "push-get":
    case "push-delete":
      return { operation, tenant, taskId: decodeTaskId(wire, "taskId", "task_id"), id: asId(member(wire, "id"), "id") };
    case "push-list":
      return decodePushList(wire, tenant);
    case "extended-card":
      return { operation, tenant };
  }
}

/** Decodes a `SendMessageRequest` (A2A 1.0 §3.2.1). `waitMs` is `Infinity` or 0: 1.0 has no limited waiting. */
function decodeSend(wire: WireObject, operation: "send" | "stream", tenant: string): SendRequest {
  const message = decodeMessage(member(wire, "message"), "message");
  const metadata = optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
  const configuration = asObject(member(wire, "configuration") ?? {}, "configuration");
  const path = "configuration.";
  const push =
    member(configuration, "taskPushNotificationConfig", "task_push_notification_config") ??
    // The name in the release candidates.
    member(configuration, "pushNotificationConfig", "push_notification_config");
  const pushPath = `${path}taskPushNotificationConfig`;
  return {
    operation,
    tenant,
    message,
    metadata,
    outputModes:
      optionalStrings(
        member(configuration, "acceptedOutputModes", "accepted_output_modes"),
        `${path}acceptedOutputModes`,
      ) ?? [],
    history: decodeHistoryLength(configuration, path),
    waitMs: decodeWait(configuration, path) ? Number.POSITIVE_INFINITY : 0,
    ...(push !== undefined && {
      push: decodePushConfig(asObject(push, pushPath), `${pushPath}.`, decodeAuthentication),
    }),
  };
}

/** The default is to wait (A2A 1.0 §3.2.2). */
function decodeWait(configuration: WireObject, path: string): boolean {
  const returnImmediately = member(configuration, "returnImmediately", "return_immediately");
  if (returnImmediately !== undefined) return optionalBoolean(returnImmediately, `${path}returnImmediately`) !== true;
  // The release candidates have the opposite member `blocking`.
  return optionalBoolean(member(configuration, "blocking"), `${path}blocking`) ?? true;
}

/** A page size outside 1 to 100 is an error, not silently changed (A2A 1.0 §3.1.4). */
function decodeList(wire: WireObject, tenant: string): ListRequest {
  const contextId = optionalId(member(wire, "contextId", "context_id"), "contextId");
  const state = decodeStateFilter(member(wire, "status"), "status");
  const since = optionalString(member(wire, "statusTimestampAfter", "status_timestamp_after"), "statusTimestampAfter");
  const pageSize = optionalInteger(member(wire, "pageSize", "page_size"), "pageSize") ?? DEFAULT_PAGE_SIZE;
  if (pageSize < 1 || pageSize > MAX_PAGE_SIZE)
    throw invalidField("pageSize", `must be between 1 and ${MAX_PAGE_SIZE}`);
  const pageToken = optionalString(member(wire, "pageToken", "page_token"), "pageToken");
  return {
    operation: "list",
    tenant,
    pageSize,
    artifacts: optionalBoolean(member(wire, "includeArtifacts", "include_artifacts"), "includeArtifacts") ?? false,
    history: decodeHistoryLength(wire, ""),
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
    ...(state !== undefined && { state }),
    ...(since !== undefined && { statusSince: decodeTimestamp(since, "statusTimestampAfter") }),
    ...(pageToken !== undefined && { before: decodePageToken(pageToken, "pageToken") }),
  };
}

/** In ProtoJSON a `pageSize` of 0 equals absent. */
function decodePushList(wire: WireObject, tenant: string): PushListRequest {
  const pageSize = optionalInteger(member(wire, "pageSize", "page_size"), "pageSize") ?? 0;
  if (pageSize < 0) throw invalidField("pageSize", "must not be negative");
  const pageToken = optionalString(member(wire, "pageToken", "page_token"), "pageToken");
  return {
    operation: "push-list",
    tenant,
    taskId: decodeTaskId(wire, "taskId", "task_id"),
    ...(pageSize > 0 && { pageSize }),
    ...(pageToken !== undefined && { after: decodeIdToken(pageToken, "pageToken") }),
  };
}

function decodeTaskId(wire: WireObject, name: string, alias?: string): TaskId {
  return asId(member(wire, name, alias), name) as TaskId;
}

/** Absent and 0 differ: the server's default, and no history (A2A 1.0 §3.2.4). */
function decodeHistoryLength(wire: WireObject, path: string): number | undefined {
  const length = optionalInteger(member(wire, "historyLength", "history_length"), `${path}historyLength`);
  if (length !== undefined && length < 0) throw invalidField(`${path}historyLength`, "must not be negative");
  return length;
}

/** 1.0 has a single `scheme` (A2A 1.0 §4.3.2), where 0.x has a list. */
function decodeAuthentication(value: unknown, path: string): Authentication {
  const wire = asObject(value, path);
  const scheme = asHeaderText(asId(member(wire, "scheme"), `${path}.scheme`), `${path}.scheme`);
  const credentials = optionalHeaderText(member(wire, "credentials"), `${path}.credentials`);
  return { schemes: [scheme], ...(credentials !== undefined && { credentials }) };
}
