import { typeName } from "./fields/fields.ts";

/** Dialects in which a send can omit whether to wait for the result. In 1.0 an absent `returnImmediately` means wait (A2A 1.0 §3.2.2). */
export const WAITING_DIALECTS = [
  "0.3/jsonrpc",
  "0.3/rest-json",
  "0.3/rest-proto",
  "0.3/grpc",
  "0.2/jsonrpc",
  "0.1/jsonrpc",
] as const;
/** A key of `DialectOptions.blockingDefault`. */
export type WaitingDialect = (typeof WAITING_DIALECTS)[number];

/** `wait`: until the task ends or asks a question. `return`: answer at once. A number: wait at most so many milliseconds. */
export type WaitDefault = "wait" | "return" | number;

/** Values of `DialectOptions.card`. */
export const CARD_STYLES = ["hybrid", "strict"] as const;
/** Values of `DialectOptions.errorProfile`. */
export const ERROR_PROFILES = ["1.0.1", "1.0.0"] as const;
/** The media types of REST 1.0: that of 1.0.1, then that of 1.0.0. Requests may have either. */
export const REST_MEDIA_TYPES = ["application/a2a+json", "application/json"] as const;
/** Values of `DialectOptions.restStyle`. The text of 0.3 describes `json` (A2A 0.3 §3.2.3); the official libraries implement `proto`. */
export const REST_STYLES = ["proto", "json"] as const;
/** The versions that can be assumed for a request without `A2A-Version` whose method exists in several versions. */
export const ASSUMABLE_VERSIONS = ["0.3", "0.2"] as const;

/** Which protocol versions a server supports, and the choices that their specifications leave open. Every option has a default. */
export interface DialectOptions {
  /**
   * The agent card for readers that request no version. `hybrid`: readable by clients of 0.3 and 1.0. `strict`: only members that the
   * newest version defines. Default `hybrid`.
   */
  readonly card?: (typeof CARD_STYLES)[number] | undefined;
  /**
   * The supported versions, of `1.0`, `0.3`, `0.2`, `0.1` and `plain`. Methods and paths of other versions are unknown to the server, and
   * cards do not list them. At least one must be an A2A version, not only `plain`. Default: all.
   */
  readonly versions?: readonly string[] | undefined;
  /**
   * Unfinished versions to support besides `versions`: `1.1`, as far as the branch `dev-1.1` of the specification has it (`generation`). What it
   * does, and the numbers of its gRPC fields, may change with every release. Default: none.
   */
  readonly preview?: readonly string[] | undefined;
  /**
   * The version of a request without `A2A-Version` whose method exists in several versions. 0.2 and 0.3 have the same methods, but a
   * caller of 0.2 may choose the id of a new task. Default `0.3` (A2A 1.0 §3.6.2).
   */
  readonly assumeVersion?: (typeof ASSUMABLE_VERSIONS)[number] | undefined;
  /**
   * What to do with a request whose method belongs to another version than `A2A-Version` says. Default: answer methods of newer versions,
   * refuse methods of older ones. `true`: answer both. `false`: refuse both, and also refuse requests that 0.x does not allow although
   * many clients send them: parts without `kind` or with `type` instead, ids in the wrong member, tool parts.
   */
  readonly lenient?: boolean | undefined;
  /** The edition of 1.0 that defines the HTTP statuses of REST 1.0 errors (A2A 1.0 §5.4, which changed in 1.0.1). Default `1.0.1`. */
  readonly errorProfile?: (typeof ERROR_PROFILES)[number] | undefined;
  /**
   * The media type of REST 1.0 answers to callers whose `Accept` and `Content-Type` name neither type, and of 1.0 notifications.
   * Default `application/a2a+json` (A2A 1.0 §14.1.1).
   */
  readonly restMediaType?: (typeof REST_MEDIA_TYPES)[number] | undefined;
  /**
   * The style of REST 0.3 answers to requests without a body: `proto` (ProtoJSON) or `json` (the objects of JSON-RPC). A task that was
   * created over REST 0.3 keeps the style in which it was created; the option applies to all other answers. Default `proto`.
   */
  readonly restStyle?: (typeof REST_STYLES)[number] | undefined;
  /**
   * Whether a send that omits `blocking` waits, per dialect. Default: `0.3/rest-proto`, `0.3/grpc` and 0.1 answer at once, the others wait.
   */
  readonly blockingDefault?: Partial<Readonly<Record<WaitingDialect, WaitDefault>>> | undefined;
  /**
   * Reject calls in the plain dialect that name no agent, unless an agent declares a `defaultProjectId`. Default false: the first agent
   * answers them.
   */
  readonly requireDefaultProject?: boolean | undefined;
}

/** `DialectOptions` with the defaults filled in. */
export interface DialectSettings {
  readonly card: (typeof CARD_STYLES)[number];
  /** `undefined`: all. */
  readonly versions: readonly string[] | undefined;
  readonly preview: readonly string[];
  readonly assumeVersion: (typeof ASSUMABLE_VERSIONS)[number];
  readonly lenient: boolean | undefined;
  readonly errorProfile: (typeof ERROR_PROFILES)[number];
  readonly restMediaType: (typeof REST_MEDIA_TYPES)[number];
  readonly restStyle: (typeof REST_STYLES)[number];
  /** Complete: every dialect has a value. */
  readonly blockingDefault: Readonly<Record<WaitingDialect, WaitDefault>>;
  readonly requireDefaultProject: boolean;
}

/**
 * 0.2 and 0.3 state no default for JSON-RPC, and the official servers wait. In ProtoJSON an absent `blocking` equals `false`. 0.1 lets the
 * server decide (A2A 0.1 §7.1), and its clients poll.
 */
const WAIT_DEFAULTS: Readonly<Record<WaitingDialect, WaitDefault>> = {
  "0.3/jsonrpc": "wait",
  "0.3/rest-json": "wait",
  "0.3/rest-proto": "return",
  "0.3/grpc": "return",
  "0.2/jsonrpc": "wait",
  "0.1/jsonrpc": "return",
};

/** Validates the options and fills in the defaults. Throws a `TypeError` that names the option and its allowed values. */
export function dialectSettings(options: DialectOptions): DialectSettings {
  return {
    card: oneOf(CARD_STYLES, options.card ?? "hybrid", "card"),
    versions: versionNames(options.versions ?? undefined, "versions"),
    preview: versionNames(options.preview ?? undefined, "preview") ?? [],
    assumeVersion: oneOf(ASSUMABLE_VERSIONS, options.assumeVersion ?? "0.3", "assumeVersion"),
    lenient: optionalBoolean(options.lenient, "lenient"),
    errorProfile: oneOf(ERROR_PROFILES, options.errorProfile ?? "1.0.1", "errorProfile"),
    restMediaType: oneOf(REST_MEDIA_TYPES, options.restMediaType ?? "application/a2a+json", "restMediaType"),
    restStyle: oneOf(REST_STYLES, options.restStyle ?? "proto", "restStyle"),
    blockingDefault: waitDefaults(options.blockingDefault ?? {}),
    requireDefaultProject: optionalBoolean(options.requireDefaultProject, "requireDefaultProject") ?? false,
  };
}

// Options may come from JavaScript or from environment variables, so their types are checked at run time.

function oneOf<T extends string>(allowed: readonly T[], value: unknown, option: string): T {
  const found = allowed.find((choice) => choice === value);
  if (found === undefined) throw new TypeError(`${option} must be ${listed(allowed)}, not ${quoted(value)}.`);
  return found;
}

function optionalBoolean(value: unknown, option: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new TypeError(`${option} must be true or false, not ${quoted(value)}.`);
}

/** Checks only the types; `supportedRows` rejects unknown versions. */
function versionNames(value: unknown, option: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new TypeError(`${option} must be a list, not ${quoted(value)}.`);
  return value.map((name: unknown) => {
    if (typeof name !== "string")
      throw new TypeError(`${option} must be a list of strings, but contains ${quoted(name)}.`);
    return name;
  });
}

/** Unknown keys are errors: a typing error would silently keep the default. */
function waitDefaults(declared: unknown): Readonly<Record<WaitingDialect, WaitDefault>> {
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) {
    throw new TypeError(`blockingDefault must be an object, not ${quoted(declared)}.`);
  }
  const settings = { ...WAIT_DEFAULTS };
  for (const [name, value] of Object.entries(declared)) {
    const dialect = WAITING_DIALECTS.find((known) => known === name);
    if (dialect === undefined) {
      throw new TypeError(
        `blockingDefault has the unknown key ${quoted(name)}. Allowed keys: ${WAITING_DIALECTS.join(", ")}.`,
      );
    }
    if (value !== undefined) settings[dialect] = waitDefault(value, `blockingDefault["${dialect}"]`);
  }
  return settings;
}

function waitDefault(value: unknown, option: string): WaitDefault {
  if (value === "wait" || value === "return") return value;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${option} must be "wait", "return" or a number of milliseconds >= 0, not ${quoted(value)}.`);
}

function listed(choices: readonly string[]): string {
  return choices.map(quoted).join(" or ");
}

/** For error texts: at most 60 characters. */
function quoted(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? JSON.stringify(value) : typeName(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
