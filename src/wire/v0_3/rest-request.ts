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

/** What the two styles of REST 0.3 read each in its own way. */
export interface RestStyle {
  decodeSend(operation: "send" | "stream", body: unknown): SendRequest;
  /** How many messages this number in a query asks for. */
  history(length: number | undefined): number | undefined;
}

/** For requests that carry no message and whose ids stand in the path. */
const SENDS_NOTHING: RequestParsing = { ...LENIENT, absentWait: "return" };

/** Reads a request of either style: paths, queries and the bodies of all but sends are the same in both. */
export function decodeRestRequest(operation: Operation, request: RestRequest, style: RestStyle): OperationRequest {
  if (operation === "send" || operation === "stream") return style.decodeSend(operation, request.body);
  if (operation === "push-create") return decodePushCreate(request);
  const { path, query } = request;
  // An empty body, `null` and the name of the task in it, which the path has already, are all the same.
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

/** This version's list is an array and has no place for a token, so a header leads to the next page. */
export function nextPageLink(next: ListPosition, request: OperationRequest | undefined): string {
  const history = request?.operation === "list" ? request.history : undefined;
  const length = history === undefined ? "" : `&historyLength=${history}`;
  return `<?pageToken=${encodePageToken(next)}${length}>; rel="next"`;
}

const CONFIG_NAME = /^.*?\/pushNotification(?:Config)?s\/(.+)$/s;

/**
 * The configuration is found bare, in the member that names its task as well, or in either of these as `config`; its id in
 * itself, beside it, or at the end of its resource name.
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
