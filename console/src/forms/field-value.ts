import type { Field } from "./schema-field.ts";

/** What a person has typed into a form: texts of fields, and chosen options, by field. */
export type Draft = string | boolean | readonly unknown[] | DraftGroup | undefined;
export interface DraftGroup {
  readonly [name: string]: Draft;
}

/** The draft before anything is typed: the defaults of the schema. */
export function initialDraft(field: Field): Draft {
  if (field.kind === "group") return Object.fromEntries(field.fields.map((each) => [each.name, initialDraft(each)]));
  if (field.kind === "several") return Array.isArray(field.initial) ? (field.initial as readonly unknown[]) : [];
  if (field.kind === "boolean") return typeof field.initial === "boolean" ? field.initial : undefined;
  if (field.initial === undefined) return "";
  if (field.kind === "choice") return JSON.stringify(field.initial);
  return typeof field.initial === "string" ? field.initial : JSON.stringify(field.initial);
}

/** The value of a field, or what is wrong with it by path (`a.b`; empty for the whole answer). */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: ReadonlyMap<string, string> };

const ABSENT: Checked = { ok: true, value: undefined };

/** Reads what was typed as a value of the schema. */
export function checkDraft(field: Field, draft: Draft, path: string = ""): Checked {
  if (field.kind === "group") return checkGroup(field, draft, path);
  const isEmpty = draft === undefined || draft === "" || (Array.isArray(draft) && draft.length === 0);
  if (isEmpty && !field.required) return ABSENT;
  const problem = isEmpty && field.kind !== "several" ? "is needed" : problemOf(field, draft);
  if (problem !== undefined) return { ok: false, problems: new Map([[path, problem]]) };
  return { ok: true, value: typedValue(field, draft) };
}

function checkGroup(field: Field, draft: Draft, path: string): Checked {
  const members: Record<string, unknown> = {};
  const problems = new Map<string, string>();
  const drafts = typeof draft === "object" && !Array.isArray(draft) ? (draft as DraftGroup) : {};
  for (const each of field.fields) {
    const checked = checkDraft(each, drafts[each.name], path === "" ? each.name : `${path}.${each.name}`);
    if (!checked.ok) for (const [at, problem] of checked.problems) problems.set(at, problem);
    else if (checked.value !== undefined) members[each.name] = checked.value;
  }
  if (!field.required && Object.keys(members).length === 0) return ABSENT;
  return problems.size === 0 ? { ok: true, value: members } : { ok: false, problems };
}

function typedValue(field: Field, draft: Draft): unknown {
  if (typeof draft !== "string") return draft;
  if (field.kind === "choice" || field.kind === "json") return JSON.parse(draft);
  if (field.input === "datetime-local") return new Date(draft).toISOString();
  return field.kind === "number" ? Number(draft) : draft;
}

function problemOf(field: Field, draft: Draft): string | undefined {
  const { schema } = field;
  if (field.kind === "number") return numberProblem(field, Number(draft));
  if (field.kind === "several") {
    const size = Array.isArray(draft) ? draft.length : 0;
    if (typeof schema["minItems"] === "number" && size < schema["minItems"])
      return `choose at least ${schema["minItems"]}`;
    if (typeof schema["maxItems"] === "number" && size > schema["maxItems"])
      return `choose at most ${schema["maxItems"]}`;
    return undefined;
  }
  if (field.kind === "json") return isJson(typedText(draft)) ? undefined : "is not valid JSON";
  return typeof draft === "string" && field.kind !== "choice" ? textProblem(field, draft) : undefined;
}

function numberProblem({ schema }: Field, value: number): string | undefined {
  if (Number.isNaN(value)) return "is not a number";
  if (schema["type"] === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (typeof schema["minimum"] === "number" && value < schema["minimum"])
    return `must be at least ${schema["minimum"]}`;
  if (typeof schema["maximum"] === "number" && value > schema["maximum"]) return `must be at most ${schema["maximum"]}`;
  return undefined;
}

function textProblem({ schema, input }: Field, value: string): string | undefined {
  if (typeof schema["minLength"] === "number" && value.length < schema["minLength"])
    return `must have at least ${schema["minLength"]} characters`;
  if (typeof schema["maxLength"] === "number" && value.length > schema["maxLength"])
    return `must have at most ${schema["maxLength"]} characters`;
  if (input === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) return "is not an e-mail address yet";
  if (input === "url" && !URL.canParse(value)) return "is not a URL yet";
  // A pattern of a foreign agent is not run: it could take for ever. The agent checks the answer itself.
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The text of a draft that is a text. */
export function typedText(draft: Draft): string {
  return typeof draft === "string" ? draft : "";
}
