// Reads a JSON Schema as the fields of a form. What a form cannot show is edited as JSON, never refused.

export type Schema = Readonly<Record<string, unknown>>;

export type FieldKind = "text" | "area" | "password" | "number" | "boolean" | "choice" | "several" | "group" | "json";

export type InputType = "text" | "password" | "date" | "time" | "datetime-local" | "email" | "url";

/** One field of a form. */
export interface Field {
  /** The member of the object; empty for the whole answer. */
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly schema: Schema;
  /** The `type` of the input element. */
  readonly input: InputType;
  /** Of `choice` and `several`. */
  readonly options: readonly FieldOption[];
  /** Of `group`. */
  readonly fields: readonly Field[];
  readonly initial: unknown;
}

export interface FieldOption {
  readonly value: unknown;
  readonly label: string;
}

/** Groups inside groups; deeper ones are edited as JSON. */
const MAX_DEPTH = 3;
/** Strings that may be longer are edited in several lines. */
const LONG = 120;
const INPUTS: Readonly<Record<string, InputType>> = {
  date: "date",
  time: "time",
  "date-time": "datetime-local",
  email: "email",
  uri: "url",
  password: "password",
};

function record(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The field of a whole answer. */
export function fieldOf(schema: Schema): Field {
  return makeField({ name: "", schema, required: true, depth: 0 });
}

interface FieldSource {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly depth: number;
}

function makeField({ name, schema, required, depth }: FieldSource): Field {
  const options = optionsOf(schema);
  const kind = kindOf(schema, options, depth);
  return {
    name,
    label: text(schema["title"]) || inWords(name),
    description: text(schema["description"]),
    kind,
    required,
    schema,
    input: INPUTS[text(schema["format"])] ?? "text",
    options: kind === "several" ? optionsOf(record(schema["items"]) ?? {}) : options,
    fields: kind === "group" ? membersOf(schema, depth) : [],
    initial: schema["default"] ?? schema["const"],
  };
}

/** `dietaryNeeds` becomes “Dietary needs”. */
function inWords(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .toLowerCase();
  return words === "" ? "Answer" : (words[0] ?? "").toUpperCase() + words.slice(1);
}

function kindOf(schema: Schema, options: readonly FieldOption[], depth: number): FieldKind {
  const { type } = schema;
  if (options.length > 0) return "choice";
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  if (type === "string") {
    if (schema["writeOnly"] === true || schema["format"] === "password") return "password";
    const most = schema["maxLength"];
    const isShort =
      schema["format"] !== undefined || schema["pattern"] !== undefined || (typeof most === "number" && most <= LONG);
    return isShort || depth > 0 ? "text" : "area";
  }
  if (type === "array" && optionsOf(record(schema["items"]) ?? {}).length > 0) return "several";
  if (type === "object" && record(schema["properties"]) !== undefined && depth < MAX_DEPTH) return "group";
  return "json";
}

/** `enum`, or `oneOf` and `anyOf` of constants. */
function optionsOf(schema: Schema): readonly FieldOption[] {
  const values = schema["enum"];
  if (Array.isArray(values)) return values.map((value: unknown) => ({ value, label: shown(value) }));
  const alternatives = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(alternatives) || alternatives.length === 0) return [];
  const constants = alternatives.map(record);
  if (!constants.every((each) => each !== undefined && "const" in each)) return [];
  return constants.map((each) => ({ value: each?.["const"], label: text(each?.["title"]) || shown(each?.["const"]) }));
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function membersOf(schema: Schema, depth: number): readonly Field[] {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(record(schema["properties"]) ?? {}).map(([name, member]) =>
    makeField({ name, schema: record(member) ?? {}, required: required.includes(name), depth: depth + 1 }),
  );
}

/** Type and limits in words, such as “a whole number, 1 to 500”. */
export function limitsOf({ kind, schema }: Field): string {
  if (kind === "number") return numberWords(schema);
  if (kind === "text" || kind === "area" || kind === "password") return textWords(schema);
  if (kind === "several") return countWords(schema);
  return kind === "json" ? "JSON" : "";
}

function numberWords(schema: Schema): string {
  const word = schema["type"] === "integer" ? "a whole number" : "a number";
  const [least, most] = [schema["minimum"], schema["maximum"]];
  if (typeof least === "number" && typeof most === "number") return `${word}, ${least} to ${most}`;
  if (typeof least === "number") return `${word}, at least ${least}`;
  return typeof most === "number" ? `${word}, at most ${most}` : word;
}

function textWords(schema: Schema): string {
  const formats: Readonly<Record<string, string>> = {
    email: "an e-mail address",
    uri: "a URL",
    date: "a date",
    time: "a time",
    "date-time": "a date and a time",
  };
  const words = [formats[text(schema["format"])] ?? ""];
  const [least, most] = [schema["minLength"], schema["maxLength"]];
  if (typeof least === "number" && least > 1) words.push(`at least ${least} characters`);
  if (typeof most === "number") words.push(`at most ${most} characters`);
  return words.filter(Boolean).join(", ");
}

function countWords(schema: Schema): string {
  const [least, most] = [schema["minItems"], schema["maxItems"]];
  if (typeof least === "number" && typeof most === "number") return `${least} to ${most} of them`;
  if (typeof least === "number" && least > 0) return `${least} at least`;
  return typeof most === "number" ? `${most} at most` : "any number of them";
}
