import type { MessageInput, Rules } from "../dialect-client.ts";
import type { Fields, Part } from "../neutral.ts";
import { type Refusal, type RefusalName, refusalByCode } from "../refusals.ts";
import { asList, asObject, asText, maybe, objectWith, wrong } from "../strict.ts";
import type { Spelling } from "./shapes.ts";

/** Objects of 0.3, bare. */
export const SPELLING_0_3: Spelling = {
  states: {
    submitted: "submitted",
    working: "working",
    completed: "completed",
    failed: "failed",
    canceled: "canceled",
    "input-required": "input-required",
    rejected: "rejected",
    "auth-required": "auth-required",
  },
  roles: { user: "user", agent: "agent" },
  kinds: true,
  wrapped: false,
  parts: "parts",
  final: "always",
  references: true,
  readPart: (value, path) => readPart(value, path, "kind"),
};

/** Common to both bindings and both styles of 0.3. */
export const RULES_0_3: Rules = {
  waitsByDefault: true,
  canAskToWait: true,
  namesTasks: "never",
  reply: "message",
  wholeHistory: undefined,
  zeroHistory: "none",
  finishedSubscribe: "snapshot",
  repeatedCancel: "TaskNotCancelable",
  list: "none",
  undeclaredExtendedCard: "ExtendedCardNotConfigured",
  undeclaredStreaming: "UnsupportedOperation",
  finishedSend: "UnsupportedOperation",
  managesPush: true,
  push: {
    sends: "tasks",
    mediaType: "application/json",
    tokenAsBearer: false,
    afterFailure: "suspended",
    fields: { create: "pushNotificationConfig.url", send: "configuration.pushNotificationConfig.url" },
    responseFields: ["id", "url", "token", "authentication", "headers"],
    schemes: "all",
  },
  requiredExtension: "InvalidParams",
  extensionsHeader: "X-A2A-Extensions",
  insteadOf: {},
  messageIds: true,
  listsExtensions: true,
  referenceTaskIds: true,
  snakeCase: false,
};

export function writeMessage(messageInput: MessageInput): Fields {
  const { parts, ...rest } = messageInput;
  return {
    kind: "message",
    messageId: crypto.randomUUID(),
    role: "user",
    parts: parts.map((part) => writePart(part, "kind")),
    ...rest,
  };
}

/** The member that tells the kind of a part: `type` in 0.1. */
type Tag = "kind" | "type";

export function writePart({ text, raw, url, data, mediaType, filename, metadata }: Part, tag: Tag): Fields {
  const extra = metadata === undefined ? {} : { metadata };
  if (text !== undefined) return { [tag]: "text", text, ...extra };
  if (data !== undefined) return { [tag]: "data", data, ...extra };
  const file = {
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(raw !== undefined && { bytes: raw }),
    ...(url !== undefined && { uri: url }),
  };
  return { [tag]: "file", file, ...extra };
}

export function readPart(value: unknown, path: string, tag: Tag): Part {
  const { [tag]: kind, metadata } = asObject(value, path);
  const extra = metadata === undefined ? {} : { metadata: asObject(metadata, `${path}.metadata`) };
  const member = kind === "text" || kind === "data" || kind === "file" ? kind : wrong(path, "is of no kind", value);
  const fields = objectWith(value, path, { required: [tag, member], optional: ["metadata"] });
  if (member === "text") return { text: asText(fields["text"], `${path}.text`), ...extra };
  if (member === "data") return { data: asObject(fields["data"], `${path}.data`), ...extra };
  const file = objectWith(fields["file"], `${path}.file`, { one: ["bytes", "uri"], optional: ["name", "mimeType"] });
  const { bytes: raw } = maybe(file, "bytes", asText);
  const { uri: url } = maybe(file, "uri", asText);
  return { ...(raw !== undefined && { raw }), ...(url !== undefined && { url }), ...fileDetails(file), ...extra };
}

export function fileDetails(file: Fields): Pick<Part, "filename" | "mediaType"> {
  const { name: filename } = maybe(file, "name", asText);
  const { mimeType: mediaType } = maybe(file, "mimeType", asText);
  return { ...(filename !== undefined && { filename }), ...(mediaType !== undefined && { mediaType }) };
}

/** The `error` member of JSON-RPC, and the whole body of REST. */
export function readError(value: unknown): Refusal {
  return readNumberedError(value, refusalByCode);
}

/** The same, with the error codes of another version. */
export function readNumberedError(value: unknown, nameOf: (code: unknown) => RefusalName | undefined): Refusal {
  const fields = objectWith(value, "error", { required: ["code", "message"], optional: ["data"] });
  const name = nameOf(fields["code"]) ?? wrong("error.code", "is unknown", fields);
  const { violations = [] } = asObject(fields["data"] ?? {}, "error.data");
  const paths = asList(violations, "error.data.violations").map((violation) => {
    const { field } = objectWith(violation, "violation", { required: ["field", "description"] });
    return asText(field, "field");
  });
  return { name, message: asText(fields["message"], "error.message"), facts: fields["data"], fields: paths };
}
