import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { type ToolResult, toolResultOf } from "../../protocol/tool-part.ts";
import { dataOf, MAX_DEPTH } from "../agent/output.ts";
import { isNamed, type PendingQuestion } from "../record/runner-record.ts";

/** What came of checking a value. `raw` is what to keep for a replay; `problem` is a sentence for the one who sent it. */
export type Checked =
  | { readonly ok: true; readonly value: unknown; readonly raw: JsonValue }
  | { readonly ok: false; readonly problem: string };

export interface ReadAnswerOptions {
  /** The problem must say nothing of the answer: schema libraries quote what they refuse. */
  readonly sensitive?: boolean;
}

const MAX_ISSUES = 5;
const MAX_ISSUE_LENGTH = 200;
const NOT_EXPECTED = "The answer does not have the expected form.";
const CHECK_FAILED = "The answer could not be checked.";

/**
 * The answer in a message: its data, its text read as JSON, or its text, whichever the schema takes first; the parts
 * themselves where there is neither. Without a schema the answer is the text, or the data as JSON where there is no text.
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

/** Checks again what was accepted before. Without a schema the value is as it is. */
export async function validateRaw(schema: StandardSchemaV1 | undefined, raw: JsonValue): Promise<Checked> {
  return schema === undefined ? { ok: true, value: raw, raw } : validate(schema, raw);
}

/**
 * The first value the schema accepts. Where it accepts none, the problem is that of the first structured one, which most likely was
 * meant, else of the last.
 */
export async function firstAccepted(schema: StandardSchemaV1, candidates: readonly JsonValue[]): Promise<Checked> {
  let told: { readonly problem: string; readonly structured: boolean } | undefined;
  for (const candidate of candidates) {
    const checked = await validate(schema, candidate);
    if (checked.ok) return checked;
    const structured = typeof candidate === "object" && candidate !== null;
    if (told?.structured !== true) told = { problem: checked.problem, structured };
  }
  return { ok: false, problem: told?.problem ?? NOT_EXPECTED };
}

/** What a message may mean, most explicit first. Never empty. */
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

/** The part of a message that answers one question: without the tool results that answer others. */
export function answerFor(message: Message, question: Pick<PendingQuestion, "id" | "aliases">): Message {
  const isOther = (part: Part): boolean => !isNamed(question, toolResultOf(part)?.toolUseId ?? question.id);
  if (!message.parts.some(isOther)) return message;
  const parts = message.parts.filter((part) => !isOther(part));
  const own = parts.filter((part) => toolResultOf(part) !== undefined);
  return { ...message, parts: own.length > 0 ? own : parts };
}

/** The data of a message, or its text where that is JSON; `undefined` where it carries neither. */
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
    // What a schema throws is the author's own and may hold anything; the sender only learns that it was not accepted.
    return { ok: false, problem: CHECK_FAILED };
  }
}

function problemOf(issues: readonly StandardSchemaV1.Issue[]): string {
  if (issues.length === 0) return NOT_EXPECTED;
  const told = issues.slice(0, MAX_ISSUES).map(describeIssue);
  if (issues.length > MAX_ISSUES) told.push(`and ${issues.length - MAX_ISSUES} more`);
  return told.join("; ");
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

/** The text of a tool's result: itself, or the one text that it holds as `value`, or else its JSON. */
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

/** How a JSON text may begin: telling by that is far cheaper than having the parser throw. */
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

/** Whether it can be walked without fear for the stack: unlike data, text has passed no limit of depth. */
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
