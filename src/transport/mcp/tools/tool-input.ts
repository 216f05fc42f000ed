import { A2AError, type FieldViolation } from "../../../protocol/error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.ts";
import type { Part } from "../../../protocol/part.ts";
import type { ToolDefinition } from "../contract.ts";

/** The arguments of a tool whose agent takes messages. */
export const MESSAGE_SCHEMA: ToolDefinition["inputSchema"] = {
  type: "object",
  properties: {
    message: { type: "string", description: "What to tell the agent." },
    data: { description: "Structured data for the agent: any JSON value." },
    files: {
      type: "array",
      description: "Files for the agent: each with its content in base64, or with the URL of the content.",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          mediaType: { type: "string", description: "Such as application/pdf." },
          base64: { type: "string" },
          url: { type: "string" },
        },
      },
    },
    contextId: {
      type: "string",
      description: "Continues an earlier conversation: `a2a/contextId` in the metadata of an earlier result.",
    },
  },
  required: ["message"],
  additionalProperties: false,
};

/** How the arguments of a tool are to be read. */
export interface InputForm {
  /** The arguments are the data of a skill with a schema. Otherwise they are a message. */
  readonly takesData: boolean;
  /** The skill's schema is not that of an object, so the data is the argument `input`. */
  readonly isWrapped: boolean;
}

/** What the arguments of a call say. */
export interface ToolInput {
  readonly parts: readonly Part[];
  readonly contextId?: string;
}

/** Reads the arguments of a call. Throws `invalid-params` that names the invalid argument. */
export function readToolInput({ takesData, isWrapped }: InputForm, args: JsonObject): ToolInput {
  if (takesData) {
    if (!isWrapped) return { parts: [{ data: args }] };
    const { input } = args;
    if (input === undefined) throw invalid("input", "is required");
    return { parts: [typeof input === "string" ? { text: input } : { data: input }] };
  }
  const { message, data, files, contextId, ...unknown } = args;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw invalid(stray, "is not an argument of this tool");
  if (typeof message !== "string") throw invalid("message", "must be a string");
  if (contextId !== undefined && typeof contextId !== "string") throw invalid("contextId", "must be a string");
  if (files !== undefined && !Array.isArray(files)) throw invalid("files", "must be a list");
  const parts: Part[] = message === "" ? [] : [{ text: message }];
  if (data !== undefined) parts.push({ data });
  const listed: readonly JsonValue[] = files ?? [];
  for (const [index, file] of listed.entries()) parts.push(filePart(file, `files[${index}]`));
  if (parts.length === 0) throw invalid("message", "must not be empty");
  return { parts, ...(contextId !== undefined && contextId !== "" && { contextId }) };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function filePart(file: JsonValue, field: string): Part {
  if (!isJsonObject(file)) throw invalid(field, "must be an object");
  const { name, mediaType, base64, url } = file;
  if (name !== undefined && typeof name !== "string") throw invalid(`${field}.name`, "must be a string");
  if (mediaType !== undefined && typeof mediaType !== "string") throw invalid(`${field}.mediaType`, "must be a string");
  const details = { ...(name !== undefined && { filename: name }), ...(mediaType !== undefined && { mediaType }) };
  if (typeof base64 === "string") {
    if (!BASE64.test(base64) || base64.length % 4 !== 0) throw invalid(`${field}.base64`, "is not valid base64");
    return { raw: base64, ...details };
  }
  if (typeof url !== "string" || URL.parse(url) === null) throw invalid(field, "needs base64 or a valid url");
  return { url, ...details };
}

/** An error that names an argument. */
export function invalid(field: string, description: string): A2AError {
  const violation: FieldViolation = { field: `arguments.${field}`, description };
  return new A2AError("invalid-params", `${violation.field}: ${description}`, { violations: [violation] });
}
