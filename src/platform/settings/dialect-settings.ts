import { createDialects } from "../../wire/dialects.ts";
import {
  ASSUMABLE_VERSIONS,
  CARD_STYLES,
  type DialectOptions,
  ERROR_PROFILES,
  REST_MEDIA_TYPES,
  REST_STYLES,
  WAITING_DIALECTS,
} from "../../wire/options.ts";
import { PREVIEWS, VERSIONS } from "../../wire/registry.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { listFrom } from "./list-from.ts";

/** The allowed values of dialect options, for the command line. */
export const CHOICES: {
  readonly card: typeof CARD_STYLES;
  readonly version: typeof VERSIONS;
  readonly preview: typeof PREVIEWS;
  readonly assumeVersion: typeof ASSUMABLE_VERSIONS;
  readonly errorProfile: typeof ERROR_PROFILES;
  readonly restMediaType: typeof REST_MEDIA_TYPES;
  readonly restStyle: typeof REST_STYLES;
  readonly waitingDialect: typeof WAITING_DIALECTS;
} = {
  card: CARD_STYLES,
  version: VERSIONS,
  preview: PREVIEWS,
  assumeVersion: ASSUMABLE_VERSIONS,
  errorProfile: ERROR_PROFILES,
  restMediaType: REST_MEDIA_TYPES,
  restStyle: REST_STYLES,
  waitingDialect: WAITING_DIALECTS,
};

/**
 * Validates the dialect options of a server. Defaults come from `A2A_CARD`, `A2A_VERSIONS`, `A2A_PREVIEW` and `A2A_ASSUME_VERSION`.
 * Throws a {@link StartupError} for invalid values.
 */
export function dialectOptionsFrom(options: DialectOptions, env: NodeJS.ProcessEnv): DialectOptions {
  const chosen: DialectOptions = {
    card: options.card ?? choiceFrom(env, "A2A_CARD", CHOICES.card),
    versions: options.versions ?? versionsFrom(env, "A2A_VERSIONS", CHOICES.version),
    preview: options.preview ?? versionsFrom(env, "A2A_PREVIEW", CHOICES.preview),
    assumeVersion: options.assumeVersion ?? choiceFrom(env, "A2A_ASSUME_VERSION", CHOICES.assumeVersion),
    lenient: options.lenient,
    errorProfile: options.errorProfile,
    restMediaType: options.restMediaType,
    restStyle: options.restStyle,
    blockingDefault: options.blockingDefault,
    requireDefaultProject: options.requireDefaultProject,
  };
  try {
    createDialects(chosen);
    return chosen;
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

/**
 * Parses `--blocking-default`: items such as `DIALECT=wait`, `DIALECT=return` or `DIALECT=500` (milliseconds).
 * `["0.3/jsonrpc=return", "0.2/jsonrpc=500"]` becomes `{ "0.3/jsonrpc": "return", "0.2/jsonrpc": 500 }`.
 */
export function parseBlockingDefault(items: readonly string[]): DialectOptions["blockingDefault"] {
  const defaults = items.map((item) => {
    const [dialect = "", value = ""] = item.split("=", 2);
    return [dialect, /^\d{1,9}$/.test(value) ? Number(value) : value] as const;
  });
  // The values are validated with the other options.
  return Object.fromEntries(defaults);
}

function choiceFrom<const T extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = env[name] || undefined;
  return value === undefined ? undefined : oneOf(name, value, choices);
}

function versionsFrom(env: NodeJS.ProcessEnv, name: string, choices: readonly string[]): readonly string[] | undefined {
  const versions = listFrom(env[name]);
  return versions.length === 0 ? undefined : versions.map((version) => oneOf(name, version, choices));
}

function oneOf<const T extends string>(name: string, value: string, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  throw new StartupError("usage", `${name} must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}.`);
}
