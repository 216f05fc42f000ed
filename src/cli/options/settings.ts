// Where the settings of a command come from. Precedence: flag, environment variable, `.env` of the project, `.env` of the user, default. A
// setting stays text with its source until `resolveSettings` parses it, so that an error can name the source.

import type { JsonObject } from "../../protocol/json.ts";
import { usageError } from "../cli-error.ts";
import type { ConfigFile } from "./config-files.ts";
import { parseDuration } from "./duration.ts";
import { OPTIONS, type OptionName, optionRow, variableOf } from "./option-table.ts";

/** The typed flags as the parser returns them: text, lists of text, and `true`, by option name in camel case. */
export type Flags = Readonly<Record<string, unknown>>;

/** The sources of settings, in order of precedence. */
export interface Sources {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: readonly ConfigFile[];
}

/** A setting as text, and its source. */
export interface SourcedSetting {
  readonly name: string;
  /** One value; several if the option may be repeated; none if it is not set. */
  readonly values: readonly string[];
  readonly source: "flag" | "environment" | "local" | "global" | "default";
  /** The source as text: `--output`, `A2ACLI_OUTPUT`, or the variable in a file. */
  readonly place: string;
}

/** The parsed settings of one command. */
export interface Settings {
  /** As typed; `agentReference` interprets it. */
  readonly agentCard: string | undefined;
  /** Also decides how errors are written. */
  readonly output: "text" | "json";
  readonly stream: boolean;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** `undefined`: the command's default. */
  readonly wait: boolean | undefined;
  /** Milliseconds. */
  readonly pollInterval: number;
  /** Milliseconds for the whole command. `undefined`: no limit. */
  readonly timeout: number | undefined;
  readonly metadata: JsonObject | undefined;
  /** Preferred bindings, best first. Empty: the card's order. */
  readonly transports: readonly string[];
  /** `Major.Minor` or `any`. `undefined`: the newest that both sides support. */
  readonly version: string | undefined;
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  /** Headers of every request, by name in lower case (A2A 1.0 §3.2.6). */
  readonly serviceParameters: Readonly<Record<string, string>>;
  readonly insecure: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
}

/** All settings with their sources. */
export function allSettings(sources: Sources): readonly SourcedSetting[] {
  return OPTIONS.filter(({ flagOnly, name }) => flagOnly !== true && name !== "config").map(({ name }) =>
    settingOf(name, sources),
  );
}

/** One setting with its source, also for options of a single command. */
export function settingOf(name: string, { flags, env, files }: Sources): SourcedSetting {
  const typed = flags[camelCase(name)];
  if (typed !== undefined) return { name, values: texts(typed), source: "flag", place: `--${name}` };
  const variable = variableOf(name);
  const inEnvironment = env[variable];
  if (inEnvironment !== undefined && inEnvironment !== "") {
    return { name, values: several(name, inEnvironment), source: "environment", place: variable };
  }
  for (const { path, scope, values } of files) {
    const value = values[variable];
    if (value !== undefined && value !== "") {
      return { name, values: several(name, value), source: scope, place: `${variable} in ${path}` };
    }
  }
  const row = OPTIONS.find((option) => option.name === name);
  return { name, values: row?.default === undefined ? [] : [row.default], source: "default", place: "built in" };
}

/** The name under which Commander stores an option: `agent-card` becomes `agentCard`. */
export function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function texts(typed: unknown): readonly string[] {
  return Array.isArray(typed) ? typed.map(String) : [String(typed)];
}

/** In variables and files, the values of a repeatable option are separated by commas. */
function several(name: string, text: string): readonly string[] {
  const repeatable = OPTIONS.some((row) => row.name === name && row.repeatable === true);
  if (!repeatable) return [text];
  return text
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/** Highest precedence first. */
const ORDER: readonly SourcedSetting["source"][] = ["flag", "environment", "local", "global", "default"];

/** The parsed settings. Throws a usage error that names the source of an invalid value. */
export function resolveSettings(sources: Sources): Settings {
  const get = (name: OptionName): SourcedSetting => settingOf(name, sources);
  return {
    agentCard: get("agent-card").values[0],
    output: oneOf(get("output"), ["text", "json"] as const),
    stream: sources.flags["stream"] === true,
    contextId: get("context-id").values[0],
    taskId: get("task-id").values[0],
    wait: waitSetting(withAliases("wait", sources), withAliases("async", sources)),
    pollInterval: duration(get("poll-interval"), MIN_POLL_INTERVAL) ?? 2000,
    timeout: duration(get("timeout"), 1),
    metadata: jsonObject(get("metadata")),
    transports: bindings(get("transport")),
    version: get("a2a-version").values[0],
    bearer: get("bearer").values[0],
    apiKey: get("api-key").values[0],
    serviceParameters: serviceParameters(get("svc-param")),
    insecure: onOff(get("insecure")),
    verbose: onOff(get("verbose")),
    debug: onOff(get("debug")),
  };
}

/** The shortest poll interval in milliseconds. */
const MIN_POLL_INTERVAL = 10;

/** Aliases exist only as flags. */
function withAliases(name: OptionName, sources: Sources): SourcedSetting {
  const alias = optionRow(name).aliases?.find((other) => sources.flags[camelCase(other)] === true);
  return alias === undefined
    ? settingOf(name, sources)
    : { name, values: ["true"], source: "flag", place: `--${alias}` };
}

/** The source with higher precedence wins. Both from the same source is an error. */
function waitSetting(wait: SourcedSetting, async: SourcedSetting): boolean | undefined {
  const waits = wait.values.length === 0 ? undefined : onOff(wait);
  const asynchronous = async.values.length === 0 ? undefined : onOff(async);
  if (waits === undefined) return asynchronous === undefined ? undefined : !asynchronous;
  if (asynchronous === undefined) return waits;
  const order = ORDER.indexOf(wait.source) - ORDER.indexOf(async.source);
  if (order === 0 && waits && asynchronous) {
    throw usageError(`${wait.place} and ${async.place} contradict each other.`, "Leave one of them out.");
  }
  return order <= 0 ? waits : !asynchronous;
}

/** The names of bindings on the command line. A custom binding is a URI. */
const BINDINGS = ["jsonrpc", "rest", "http+json", "grpc", "plain"] as const;

function bindings({ values, place }: SourcedSetting): readonly string[] {
  for (const value of values) {
    const isKnown = BINDINGS.some((name) => name === value.toLowerCase().replaceAll(/[-_\s]/g, ""));
    if (!isKnown && !URL.canParse(value)) {
      throw usageError(`${place} must be one of ${BINDINGS.join(", ")}, or the URI of a binding, not "${value}".`);
    }
  }
  return values;
}

function oneOf<T extends string>({ values, place }: SourcedSetting, allowed: readonly [T, ...T[]]): T {
  const [value = allowed[0]] = values;
  const found = allowed.find((choice) => choice === value);
  if (found === undefined) throw usageError(`${place} must be ${allowed.join(" or ")}, not "${value}".`);
  return found;
}

function onOff({ values, place }: SourcedSetting): boolean {
  const [value] = values;
  if (value === undefined) return false;
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw usageError(`${place} must be true or false, not "${value}".`);
}

function duration({ values, place }: SourcedSetting, least: number): number | undefined {
  const [value] = values;
  if (value === undefined) return undefined;
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined || milliseconds < least) {
    throw usageError(`${place} must be a time like 500ms, 30s or 5m, not "${value}".`);
  }
  return milliseconds;
}

function jsonObject({ values, place }: SourcedSetting): JsonObject | undefined {
  const [value] = values;
  if (value === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    // Safe: `JSON.parse` returns JSON objects.
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as JsonObject;
  } catch {
    // Reported below.
  }
  throw usageError(`${place} must be a JSON object.`, `For example: --metadata '{"priority":"high"}'`);
}

/** A header name, and a value without line breaks. */
function serviceParameters({ values, place }: SourcedSetting): Readonly<Record<string, string>> {
  const entries = values.map((text) => {
    const [, name, value] = /^([!#$%&'*+.^`|~\w-]+)\s*:\s*(.*)$/s.exec(text) ?? [];
    // The error does not repeat the value: it may be a secret.
    if (name === undefined || value === undefined || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw usageError(`${place} must be like x-trace-id:abc123.`);
    }
    return [name.toLowerCase(), value] as const;
  });
  return Object.fromEntries(entries);
}
