import { typeName } from "./fields/fields.ts";

/** Dialects in which a send may leave open whether it wants to wait. */
export const WAITING_DIALECTS = [
  "0.3/jsonrpc",
  "0.3/rest-json",
  "0.3/rest-proto",
  "0.2/jsonrpc",
  "0.1/jsonrpc",
] as const;
export type WaitingDialect = (typeof WAITING_DIALECTS)[number];

/** Wait until the task is finished or asks something; answer at once; or wait at most so many milliseconds. */
export type WaitDefault = "wait" | "return" | number;

export const CARD_STYLES = ["hybrid", "strict"] as const;
export const ERROR_PROFILES = ["1.0.1", "1.0.0"] as const;
export const REST_MEDIA_TYPES = ["application/a2a+json", "application/json"] as const;
export const REST_STYLES = ["proto", "json"] as const;
/** What callers may be taken for that name no version, and whose spelling does not tell it. */
export const ASSUMABLE_VERSIONS = ["0.3", "0.2"] as const;

/** How the protocol's versions are spoken, where they leave a choice. */
export interface DialectOptions {
  /**
   * The agent card for readers that name no version: `hybrid` is read by clients of every version, `strict` holds nothing
   * but what the newest version defines. Default `hybrid`.
   */
  readonly card?: (typeof CARD_STYLES)[number] | undefined;
  /**
   * Which versions are spoken, `plain` among them. One that is left out is not supported: its methods and paths are not known, and
   * cards do not mention it. At least one must be a version of the protocol. Default: all.
   */
  readonly versions?: readonly string[] | undefined;
  /**
   * Which version callers speak that name none, where its spelling is that of several: 0.2 and 0.3 have the same methods, but in
   * 0.2 a caller may name a new task. Default `0.3`, as the protocol has it.
   */
  readonly assumeVersion?: (typeof ASSUMABLE_VERSIONS)[number] | undefined;
  /**
   * What happens when a request's spelling belongs to another version than its `A2A-Version` says. By default a method of a later
   * version is answered whatever the header says, and a method of an earlier one is refused. `true` answers those as
   * well; `false` answers none, and refuses requests that an early version does not allow but many of its callers send: parts
   * without their `kind` or under another name, ids in the wrong place, parts for tools.
   */
  readonly lenient?: boolean | undefined;
  /** Which edition's HTTP statuses the errors of REST 1.0 have. Default `1.0.1`. */
  readonly errorProfile?: (typeof ERROR_PROFILES)[number] | undefined;
  /**
   * How REST 1.0 answers callers that neither accept nor send a type of their own choice, and what its webhooks are sent as. Default
   * `application/a2a+json`.
   */
  readonly restMediaType?: (typeof REST_MEDIA_TYPES)[number] | undefined;
  /**
   * How REST 0.3 answers requests without a body. A task that was created over REST 0.3 is answered in the style in which it was created;
   * this setting is for all other answers. Default `proto`.
   */
  readonly restStyle?: (typeof REST_STYLES)[number] | undefined;
  /**
   * What a send means that does not say whether to wait. Default: JSON styles wait, the `proto` style and 0.1 answer at once.
   */
  readonly blockingDefault?: Partial<Readonly<Record<WaitingDialect, WaitDefault>>> | undefined;
}

/** The options with everything filled in. */
export interface DialectSettings {
  readonly card: (typeof CARD_STYLES)[number];
  /** `undefined`: all. */
  readonly versions: readonly string[] | undefined;
  readonly assumeVersion: (typeof ASSUMABLE_VERSIONS)[number];
  readonly lenient: boolean | undefined;
  readonly errorProfile: (typeof ERROR_PROFILES)[number];
  readonly restMediaType: (typeof REST_MEDIA_TYPES)[number];
  readonly restStyle: (typeof REST_STYLES)[number];
  readonly blockingDefault: Readonly<Record<WaitingDialect, WaitDefault>>;
}

const WAIT_DEFAULTS: Readonly<Record<WaitingDialect, WaitDefault>> = {
  "0.3/jsonrpc": "wait",
  "0.3/rest-json": "wait",
  "0.3/rest-proto": "return",
  "0.2/jsonrpc": "wait",
  "0.1/jsonrpc": "return",
};

/** The options with the defaults filled in. Throws a `TypeError` that names the option and what it may be. */
export function dialectSettings(options: DialectOptions): DialectSettings {
  return {
    card: oneOf(CARD_STYLES, options.card ?? "hybrid", "card"),
    versions: versionNames(options.versions ?? undefined),
    assumeVersion: oneOf(ASSUMABLE_VERSIONS, options.assumeVersion ?? "0.3", "assumeVersion"),
    lenient: optionalBoolean(options.lenient, "lenient"),
    errorProfile: oneOf(ERROR_PROFILES, options.errorProfile ?? "1.0.1", "errorProfile"),
    restMediaType: oneOf(REST_MEDIA_TYPES, options.restMediaType ?? "application/a2a+json", "restMediaType"),
    restStyle: oneOf(REST_STYLES, options.restStyle ?? "proto", "restStyle"),
    blockingDefault: waitDefaults(options.blockingDefault ?? {}),
  };
}

// Options come from JavaScript and from the environment: their types promise nothing.

function oneOf<T extends string>(allowed: readonly T[], value: unknown, option: string): T {
  const found = allowed.find((choice) => choice === value);
  if (found === undefined) throw new TypeError(`${option} must be ${listed(allowed)}, not ${quoted(value)}.`);
  return found;
}

function optionalBoolean(value: unknown, option: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new TypeError(`${option} must be true or false, not ${quoted(value)}.`);
}

/** Which of them exist is for those to say who speak them. */
function versionNames(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new TypeError(`versions must be a list, not ${quoted(value)}.`);
  return value.map((name: unknown) => {
    if (typeof name !== "string") throw new TypeError(`versions must be a list of names, not of ${quoted(name)}.`);
    return name;
  });
}

function waitDefaults(declared: unknown): Readonly<Record<WaitingDialect, WaitDefault>> {
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) {
    throw new TypeError(`blockingDefault must be an object, not ${quoted(declared)}.`);
  }
  const settings = { ...WAIT_DEFAULTS };
  for (const [name, value] of Object.entries(declared)) {
    const dialect = WAITING_DIALECTS.find((known) => known === name);
    if (dialect === undefined) {
      throw new TypeError(`blockingDefault has no ${quoted(name)}: it may have ${WAITING_DIALECTS.join(", ")}.`);
    }
    if (value !== undefined) settings[dialect] = waitDefault(value, `blockingDefault["${dialect}"]`);
  }
  return settings;
}

function waitDefault(value: unknown, option: string): WaitDefault {
  if (value === "wait" || value === "return") return value;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${option} must be "wait", "return" or a number of milliseconds from 0, not ${quoted(value)}.`);
}

function listed(choices: readonly string[]): string {
  return choices.map(quoted).join(" or ");
}

/** Short, whatever it is. */
function quoted(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? JSON.stringify(value) : typeName(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
