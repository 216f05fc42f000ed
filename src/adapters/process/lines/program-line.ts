import type { Usage } from "../../../engine/agent/agent.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.ts";
import { processFailure } from "../process-failure.ts";

/** A question of a program. */
export interface AskLine {
  readonly kind: "ask";
  readonly question: string;
  readonly schema: JsonObject | undefined;
  /** Identifies the question after a restart. */
  readonly name: string | undefined;
  readonly sensitive: boolean;
  /** The program ends now, and is started again with the answer. */
  readonly restart: boolean;
}

export interface ArtifactLine {
  readonly kind: "artifact";
  /** `undefined`: the name of the file. */
  readonly artifact: string | undefined;
  readonly description: string | undefined;
  readonly content: ArtifactContent | undefined;
  /** Replaces what the artifact contains so far. */
  readonly replace: boolean;
  /** Nothing follows. */
  readonly last: boolean;
}

type ArtifactContent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "data"; readonly data: JsonValue }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly name: string | undefined;
      readonly mediaType: string | undefined;
    };

/** A line that a program has written. */
export type ProgramLine =
  | { readonly kind: "status"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | ArtifactLine
  | AskLine
  | { readonly kind: "next"; readonly wait: boolean }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "log"; readonly text: string; readonly level: LogLevel }
  | { readonly kind: "fail"; readonly text: string }
  | { readonly kind: "reject"; readonly text: string };

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** The members that say what a line is. `artifact` comes first: its lines also have `text`, `data` or `file`. */
const READERS: Readonly<Record<string, (line: Fields) => ProgramLine>> = {
  artifact: (line) => artifactLine(line, line.text("artifact")),
  ask: (line) => ({
    kind: "ask",
    question: line.text("ask"),
    schema: line.object("schema"),
    name: line.optionalText("name"),
    sensitive: line.flag("sensitive"),
    restart: line.flag("restart"),
  }),
  status: (line) => ({ kind: "status", text: line.text("status") }),
  text: (line) => ({ kind: "text", text: line.text("text") }),
  file: (line) => artifactLine(line, undefined),
  next: (line) => ({ kind: "next", wait: line.has("wait") ? line.flag("wait") : true }),
  usage: (line) => ({ kind: "usage", usage: usageOf(line) }),
  log: (line) => ({ kind: "log", text: line.text("log"), level: levelOf(line) }),
  fail: (line) => ({ kind: "fail", text: line.text("fail") }),
  reject: (line) => ({ kind: "reject", text: line.text("reject") }),
};

/** Reads a line of the protocol `jsonl`. Throws a `TaskFailure` that says what is wrong with it. */
export function readProgramLine(json: string): ProgramLine {
  const fields = new Fields(parse(json));
  const kind = Object.keys(READERS).find((name) => fields.has(name));
  const read = kind === undefined ? undefined : READERS[kind];
  if (read === undefined) throw invalid(`it has none of the members ${Object.keys(READERS).join(", ")}`);
  return read(fields);
}

/** For a line that cannot be used, and why. */
export function invalid(problem: string, cause?: unknown): Error {
  return processFailure("process-line-invalid", `The program wrote an invalid line: ${problem}.`, { cause });
}

function parse(json: string): JsonObject {
  let value: JsonValue;
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    value = JSON.parse(json) as JsonValue;
  } catch (cause) {
    throw invalid("it is not JSON", cause);
  }
  if (!isJsonObject(value)) throw invalid("it is not a JSON object");
  return value;
}

/** The members of a line. Each method throws a `TaskFailure` for a member of another type. */
class Fields {
  readonly #members: JsonObject;

  constructor(members: JsonObject) {
    this.#members = members;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  value(name: string): JsonValue | undefined {
    return this.has(name) ? this.#members[name] : undefined;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw invalid(`${name} is missing`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.value(name);
    if (value !== undefined && typeof value !== "string") throw invalid(`${name} must be a string`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false;
    if (typeof value !== "boolean") throw invalid(`${name} must be true or false`);
    return value;
  }

  object(name: string): JsonObject | undefined {
    const value = this.value(name);
    if (value !== undefined && !isJsonObject(value)) throw invalid(`${name} must be an object`);
    return value;
  }
}

function artifactLine(line: Fields, artifact: string | undefined): ArtifactLine {
  if (artifact === "") throw invalid("artifact must not be empty");
  const content = contentOf(line);
  if (content === undefined && !line.flag("last")) throw invalid("an artifact needs text, data, file or last");
  return {
    kind: "artifact",
    artifact,
    description: line.optionalText("description"),
    content,
    replace: line.flag("replace"),
    last: line.flag("last"),
  };
}

function contentOf(line: Fields): ArtifactContent | undefined {
  const [kind, ...others] = (["text", "data", "file"] as const).filter((name) => line.has(name));
  if (others.length > 0) throw invalid(`it has both ${kind} and ${others.join(" and ")}`);
  if (kind === "text") return { kind, text: line.text("text") };
  if (kind === "data") return { kind, data: line.value("data") ?? null };
  if (kind === undefined) return undefined;
  const [name, mediaType] = [line.optionalText("name"), line.optionalText("mediaType")];
  return { kind, path: line.text("file"), name, mediaType };
}

function usageOf(line: Fields): Usage {
  const counters = Object.entries(line.object("usage") ?? {});
  const wrong = counters.find(([, value]) => typeof value !== "number" || value < 0);
  if (wrong !== undefined) throw invalid(`usage.${wrong[0]} must be a number of at least 0`);
  return Object.fromEntries(counters.map(([name, value]) => [name, Number(value)]));
}

function levelOf(line: Fields): LogLevel {
  const level = LOG_LEVELS.find((name) => name === (line.value("level") ?? "info"));
  if (level === undefined) throw invalid(`level must be one of ${LOG_LEVELS.join(", ")}`);
  return level;
}
