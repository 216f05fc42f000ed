import type { Page, Part } from "../neutral.ts";
import { REFUSALS, type Refusal, type RefusalName, refusalByReason } from "../refusals.ts";
import { asList, asNumber, asObject, asText, listOf, maybe, objectWith, wrong } from "../strict.ts";
import { createReaders, type Readers, type Spelling } from "./shapes.ts";

export const SPELLING: Spelling = {
  states: {
    submitted: "TASK_STATE_SUBMITTED",
    working: "TASK_STATE_WORKING",
    completed: "TASK_STATE_COMPLETED",
    failed: "TASK_STATE_FAILED",
    canceled: "TASK_STATE_CANCELED",
    "input-required": "TASK_STATE_INPUT_REQUIRED",
    rejected: "TASK_STATE_REJECTED",
    "auth-required": "TASK_STATE_AUTH_REQUIRED",
  },
  roles: { user: "ROLE_USER", agent: "ROLE_AGENT" },
  kinds: false,
  wrapped: true,
  parts: "parts",
  final: "never",
  references: true,
  readPart,
};

export const READERS: Readers = createReaders(SPELLING);

function readPart(value: unknown, path: string): Part {
  const fields = objectWith(value, path, {
    one: ["text", "raw", "url", "data"],
    optional: ["mediaType", "filename", "metadata"],
  });
  return {
    ...maybe(fields, "text", asText),
    ...maybe(fields, "raw", asText),
    ...maybe(fields, "url", asText),
    ...("data" in fields && { data: fields["data"] }),
    ...maybe(fields, "mediaType", asText),
    ...maybe(fields, "filename", asText),
    ...maybe(fields, "metadata", asObject),
  };
}

export function readPage(value: unknown): Page {
  const fields = objectWith(value, "ListTasksResponse", {
    required: ["tasks", "nextPageToken", "pageSize", "totalSize"],
  });
  return {
    tasks: listOf(READERS.readTask)(fields["tasks"], "tasks"),
    nextPageToken: asText(fields["nextPageToken"], "nextPageToken"),
    pageSize: asNumber(fields["pageSize"], "pageSize"),
    totalSize: asNumber(fields["totalSize"], "totalSize"),
  };
}

/** The details of every error: its reason and its invalid fields. */
function readDetails(value: unknown, message: string): Refusal {
  let name: RefusalName | undefined;
  let facts: unknown = {};
  const fields: string[] = [];
  for (const each of asList(value, "details")) {
    const { "@type": type } = asObject(each, "detail");
    if (type === "type.googleapis.com/google.rpc.ErrorInfo") {
      const info = objectWith(each, "ErrorInfo", { required: ["@type", "reason", "domain"], optional: ["metadata"] });
      if (info["domain"] !== "a2a-protocol.org") wrong("ErrorInfo.domain", "is wrong", info["domain"]);
      name = refusalByReason(info["reason"]) ?? wrong("ErrorInfo.reason", "is unknown", info["reason"]);
      facts = info["metadata"] ?? {};
      for (const fact of Object.values(asObject(facts, "ErrorInfo.metadata"))) asText(fact, "ErrorInfo.metadata");
    } else if (type === "type.googleapis.com/google.rpc.BadRequest") {
      const request = objectWith(each, "BadRequest", { required: ["@type", "fieldViolations"] });
      for (const violation of asList(request["fieldViolations"], "fieldViolations")) {
        const { field } = objectWith(violation, "violation", { required: ["field", "description"] });
        fields.push(asText(field, "field"));
      }
    } else wrong("A detail", "has an unknown @type", type);
  }
  if (name === undefined) return wrong("details", "lack an ErrorInfo", value);
  return { name, message, facts, fields };
}

export function readRpcError(value: unknown): Refusal {
  const fields = objectWith(value, "error", { required: ["code", "message", "data"] });
  const refusal = readDetails(fields["data"], asText(fields["message"], "error.message"));
  if (fields["code"] !== REFUSALS[refusal.name].code) wrong("error.code", `is not that of ${refusal.name}`, fields);
  return refusal;
}

export function readRestError(value: unknown, httpStatus: number, edition: "1.0.1" | "1.0.0" = "1.0.1"): Refusal {
  const { error } = objectWith(value, "body", { required: ["error"] });
  const fields = objectWith(error, "error", { required: ["code", "status", "message", "details"] });
  const refusal = readDetails(fields["details"], asText(fields["message"], "error.message"));
  const status = REFUSALS[refusal.name].status[edition];
  if (fields["code"] !== httpStatus) wrong("error.code", `is not the HTTP status ${httpStatus}`, fields);
  if (fields["status"] !== status) wrong("error.status", `must be ${status} for ${refusal.name}`, fields);
  return refusal;
}
