import type { MessageInput, Rules } from "../dialect-client.ts";
import type { Fields, Part } from "../neutral.ts";
import { asObject, asText, maybe, objectWith } from "../strict.ts";
import type { Spelling } from "./shapes.ts";
import { fileDetails, RULES_0_3 } from "./v0-3-shapes.ts";

/** Objects of 0.3 in proto JSON. */
export const PROTO_SPELLING: Spelling = {
  states: {
    submitted: "TASK_STATE_SUBMITTED",
    working: "TASK_STATE_WORKING",
    completed: "TASK_STATE_COMPLETED",
    failed: "TASK_STATE_FAILED",
    canceled: "TASK_STATE_CANCELLED",
    "input-required": "TASK_STATE_INPUT_REQUIRED",
    rejected: "TASK_STATE_REJECTED",
    "auth-required": "TASK_STATE_AUTH_REQUIRED",
  },
  roles: { user: "ROLE_USER", agent: "ROLE_AGENT" },
  kinds: false,
  wrapped: true,
  parts: "content",
  final: "true",
  references: false,
  readPart,
};

export const PROTO_RULES: Rules = {
  ...RULES_0_3,
  waitsByDefault: false,
  push: {
    ...RULES_0_3.push,
    fields: { create: "pushNotificationConfig.url", send: "configuration.pushNotification.url" },
    responseFields: ["id", "url", "token", "authentication"],
  },
  zeroHistory: "all",
  list: "array",
  referenceTaskIds: false,
  snakeCase: true,
};

export function writeProtoMessage(messageInput: MessageInput): Fields {
  const { parts, referenceTaskIds: _lost, ...rest } = messageInput;
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", content: parts.map(writePart), ...rest };
}

function writePart({ text, raw, url, data, mediaType, filename, metadata }: Part): Fields {
  const extra = metadata === undefined ? {} : { metadata };
  if (text !== undefined) return { text, ...extra };
  if (data !== undefined) return { data: { data }, ...extra };
  const file = {
    ...(raw !== undefined && { fileWithBytes: raw }),
    ...(url !== undefined && { fileWithUri: url }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return { file, ...extra };
}

function readPart(value: unknown, path: string): Part {
  const fields = objectWith(value, path, { one: ["text", "file", "data"], optional: ["metadata"] });
  const extra = maybe(fields, "metadata", asObject);
  if (fields["text"] !== undefined) return { text: asText(fields["text"], `${path}.text`), ...extra };
  if (fields["data"] !== undefined) {
    const { data } = objectWith(fields["data"], `${path}.data`, { required: ["data"] });
    return { data: asObject(data, `${path}.data.data`), ...extra };
  }
  const file = objectWith(fields["file"], `${path}.file`, {
    one: ["fileWithBytes", "fileWithUri"],
    optional: ["mimeType", "name"],
  });
  const { fileWithBytes: raw } = maybe(file, "fileWithBytes", asText);
  const { fileWithUri: url } = maybe(file, "fileWithUri", asText);
  return { ...(raw !== undefined && { raw }), ...(url !== undefined && { url }), ...fileDetails(file), ...extra };
}
