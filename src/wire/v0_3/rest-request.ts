import type { TaskId } from "../../protocol/ids.ts";
import type {
  ListPosition,
  Operation,
  OperationRequest,
  PushCreateRequest,
  SendRequest,
} from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import { asId, asObject, member, optionalId, optionalInteger, optionalString } from "../fields/fields.ts";
import { decodePageToken, encodePageToken } from "../fields/page-token.ts";
import { LENIENT } from "../fields/parsing.ts";
import { decodePushConfig, decodeRequest, type RequestParsing } from "./request.ts";

/** Decoders that differ between the two styles of REST 0.3. */
export interface RestStyle {
  decodeSend(operation: "send" | "stream", body: unknown): SendRequest;
  /** The meaning of `historyLength` in a query. */
  history(length: number | undefined): number | undefined;
}

/** For requests without a message, whose ids are in the path. */
const SENDS_NOTHING: RequestParsing = { ...LENIENT, absentWait: "return" };

/** Decodes a request of either style. Paths, queries and all bodies except those of sends are the same in both. */
export function decodeRestRequest(operation: Operation, request: RestRequest, style: RestStyle): OperationRequest {
  if (operation === "send" || operation === "stream") return style.decodeSend(operation, request.body);
  if (operation === "push-create") return decodePushCreate(request);
  const { path, query } = request;
  // Only `metadata` is read from the body: the path already has the task id.
  const body = asObject(request.body ?? {}, "body");
  const length = query.get("historyLength") || query.get("history_length") || undefined;
  const params = {
    id: path["id"],
    pushNotificationConfigId: path["configId"],
    historyLength: style.history(optionalInteger(length, "historyLength")),
    metadata: member(body, "metadata"),
  };
  const decoded = decodeRequest(operation, params, SENDS_NOTHING);
  const token = query.get("pageToken") || undefined;
  if (decoded.operation !== "list" || token === undefined) return decoded;
  return { ...decoded, before: decodePageToken(token, "pageToken") };
}

/** A list of 0.3 is an array without a member for a page token, so a `Link` header contains it. */
export function nextPageLink(next: ListPosition, request: OperationRequest | undefined): string {
  const history = request?.operation === "list" ? request.history : undefined;
  const length = history === undefined ? "" : `&historyLength=${history}`;
  return `<?pageToken=${encodePageToken(next)}${length}>; rel="next"`;
}

/** Captures the webhook's id of `tasks/{task}/pushNotificationConfigs/{id}`. */
const CONFIG_NAME = /^.*?\/pushNotification(?:Config)?s\/(.+)$/s;

/**
 * The webhook may be the body itself, its `pushNotificationConfig`, or either of these within `config`. Its id may be in the webhook, in
 * `configId`, or at the end of the resource `name`.
 */
function decodePushCreate({ path, body }: RestRequest): PushCreateRequest {
  const wire = asObject(body ?? {}, "body");
  const wrapped = member(wire, "config");
  const owner = wrapped === undefined ? wire : asObject(wrapped, "config");
  const place = wrapped === undefined ? "" : "config.";
  const nested = member(owner, "pushNotificationConfig", "push_notification_config");
  const config =
    nested === undefined
      ? decodePushConfig(owner, place)
      : decodePushConfig(asObject(nested, `${place}pushNotificationConfig`), `${place}pushNotificationConfig.`);
  const name = optionalString(member(owner, "name"), `${place}name`) ?? "";
  const id =
    config.id ??
    optionalId(member(wire, "configId", "config_id"), "configId") ??
    optionalId(CONFIG_NAME.exec(name)?.[1], `${place}name`);
  return {
    operation: "push-create",
    tenant: "",
    taskId: asId(path["id"], "id") as TaskId,
    config: id === undefined ? config : { ...config, id },
  };
}
