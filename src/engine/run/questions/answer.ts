import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import { type Part, textOf } from "../../../protocol/part.ts";
import { type ToolResult, toolResultOf } from "../../../protocol/tool-part.ts";
import { dataOf, MAX_DEPTH } from "../../agent/output.ts";
import { isNamed, type PendingQuestion } from "../../record/runner-record.ts";

/** The result of validating an answer. `raw`: the value before the schema, stored for a replay. `problem`: a sentence for the sender. */
export type Checked =
  | { readonly ok: true; readonly value: unknown; readonly raw: JsonValue }
  | { readonly ok: false; readonly problem: string };

export interface ReadAnswerOptions {
  /** The problem must not contain the answer. Schema libraries quote the value they reject. */
  readonly sensitive?: boolean;
}

const MAX_ISSUES = 5;
const MAX_ISSUE_LENGTH = 200;
const NOT_EXPECTED = "The answer does not have the expected form.";
const CHECK_FAILED = "The answer could not be checked.";

/**
 * Reads the answer in a message. With a schema: the first of these that is valid: the data, the text parsed as JSON, the text; or the
 * parts, if the message has neither. Without a schema: the text, or the data as JSON if the message has no text.
 */
export async function readAnswer(
  schema: StandardSchemaV1 | undefined,
  message: Message,
  options: ReadAnswerOptions = {},
): Promise<Checked> {
  if (schema === undefined) {
    const text = plainAnswer(message);
    return { ok: true, value: text, raw: text };
  }
  const checked = await firstAccepted(schema, answersIn(message));
  return checked.ok || options.sensitive !== true ? checked : { ok: false, problem: NOT_EXPECTED };
}

/** Validates a stored answer again, because a schema may transform it. Without a schema the value is returned as it is. */
export async function validateRaw(schema: StandardSchemaV1 | undefined, raw: JsonValue): Promise<Checked> {
  return schema === undefined ? { ok: true, value: raw, raw } : validate(schema, raw);
}

/**
 * The first valid candidate. If none is valid, the problem is that of the first object or array, which most likely was meant; otherwise that
 * of the last candidate.
 */
export async function firstAccepted(schema: StandardSchemaV1, candidates: readonly JsonValue[]): Promise<Checked> {
  let reported: { readonly problem: string; readonly structured: boolean } | undefined;
  for (const candidate of candidates) {
    const checked = await validate(schema, candidate);
    if (checked.ok) return checked;
    const structured = typeof candidate === "object" && candidate !== null;
    if (reported?.structured !== true) reported = { problem: checked.problem, structured };
  }
  return { ok: false, problem: reported?.problem ?? NOT_EXPECTED };
}

/** The values that a message may stand for, most explicit first. Never empty. */
export function answersIn(message: Message): readonly JsonValue[] {
  const candidates: JsonValue[] = [];
  const used = toolResultIn(message);
  if (used !== undefined) return [used.result];
  const data = dataOf(message.parts);
  if (data !== undefined) candidates.push(data);
  if (hasText(message.parts)) {
    const text = textOf(message.parts);
    const parsed = parseJson(text);
    if (parsed !== undefined) candidates.push(parsed);
    candidates.push(text);
    if (text.trim() !== text) candidates.push(text.trim());
  }
  return candidates.length > 0 ? candidates : [message.parts.map(partAsJson)];
}

/** The message without tool results that answer other questions. */
export function answerFor(message: Message, question: Pick<PendingQuestion, "id" | "aliases">): Message {
  const isOther = (part: Part): boolean => !isNamed(question, toolResultOf(part)?.toolUseId ?? question.id);
  if (!message.parts.some(isOther)) return message;
  const parts = message.parts.filter((part) => !isOther(part));
  const results = parts.filter((part) => toolResultOf(part) !== undefined);
  return { ...message, parts: results.length > 0 ? results : parts };
}

/** The data of a message, or its text parsed as JSON; `undefined` if it has neither. */
export function structuredIn(message: Message): JsonValue | undefined {
  const data = dataOf(message.parts);
  return data === undefined ? parseJson(textOf(message.parts)) : data;
}

async function validate(schema: StandardSchemaV1, raw: JsonValue): Promise<Checked> {
  try {
    const result = await schema["~standard"].validate(raw);
    if (result.issues !== undefined) return { ok: false, problem: problemOf(result.issues) };
    return { ok: true, value: result.value, raw };
  } catch {
    // The error comes from the agent's code and may contain anything, so the sender does not see it.
    return { ok: false, problem: CHECK_FAILED };
  }
}

function problemOf(issues: readonly StandardSchemaV1.Issue[]): string {
  if (issues.length === 0) return NOT_EXPECTED;
  const lines = issues.slice(0, MAX_ISSUES).map(describeIssue);
  if (issues.length > MAX_ISSUES) lines.push(`and ${issues.length - MAX_ISSUES} more`);
  return lines.join("; ");
}

function describeIssue({ path, message }: StandardSchemaV1.Issue): string {
  const place = placeOf(path ?? []);
  const text = message.length > MAX_ISSUE_LENGTH ? `${message.slice(0, MAX_ISSUE_LENGTH)}…` : message;
  // Some libraries put the path into the message themselves.
  return place === "" || text.startsWith(`${place} `) ? text : `${place}: ${text}`;
}

function placeOf(path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string {
  let place = "";
  for (const segment of path) {
    const key = typeof segment === "object" ? segment.key : segment;
    if (typeof key === "number") place += `[${key}]`;
    else place += place === "" ? String(key) : `.${String(key)}`;
  }
  return place.length > MAX_ISSUE_LENGTH ? `${place.slice(0, MAX_ISSUE_LENGTH)}…` : place;
}

function toolResultIn({ parts }: Message): ToolResult | undefined {
  for (const part of parts) {
    const used = toolResultOf(part);
    if (used !== undefined) return used;
  }
  return undefined;
}

function plainAnswer(message: Message): string {
  const used = toolResultIn(message);
  if (used !== undefined) return toolText(used.result);
  if (hasText(message.parts)) return textOf(message.parts);
  const data = dataOf(message.parts);
  return data === undefined ? "" : JSON.stringify(data);
}

/** The text of a tool's result: the result if it is a text; the text of `{ "value": "…" }`; otherwise the JSON. */
function toolText(result: JsonValue): string {
  if (typeof result === "string") return result;
  if (typeof result === "object" && result !== null && !Array.isArray(result)) {
    const [[name, value] = [], ...others] = Object.entries(result);
    if (name === "value" && typeof value === "string" && others.length === 0) return value;
  }
  return JSON.stringify(result);
}

function hasText(parts: readonly Part[]): boolean {
  return parts.some((part) => part.text !== undefined);
}

/** How a JSON text can begin. Testing this is much cheaper than an exception of the parser. */
const JSON_START = /^\s*[[{"\d\-tfn]/;

function parseJson(text: string): JsonValue | undefined {
  if (!JSON_START.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isWithin(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the value has at most `levels` levels. Data was checked when the message arrived; text was not, and could overflow the stack. */
function isWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member: JsonValue) => isWithin(member, levels - 1));
}

function partAsJson({ text, raw, url, data, mediaType, filename, metadata }: Part): JsonValue {
  return {
    ...(text !== undefined && { text }),
    ...(raw !== undefined && { raw }),
    ...(url !== undefined && { url }),
    ...(data !== undefined && { data }),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
    ...(metadata !== undefined && { metadata }),
  };
}
