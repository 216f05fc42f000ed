import { pino } from "pino";
import type { Logger } from "../internal/logger.ts";
import { maskCredentials } from "../internal/mask-credentials.ts";
import { plainText } from "../internal/terminal-text.ts";
import { StartupError } from "./startup-error.ts";

/** From most to least output. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
/** Lines below the level are not written. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The level in `LOG_LEVEL`; `info` if it is not set. Throws a {@link StartupError} for another value. */
export function logLevelFrom(env: NodeJS.ProcessEnv = process.env): LogLevel {
  const wanted = env["LOG_LEVEL"] || "info";
  const level = LOG_LEVELS.find((name) => name === wanted);
  if (level !== undefined) return level;
  throw new StartupError("usage", `LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not ${wanted}.`);
}

/** Writes to standard error: one JSON object per line, or, for people (`pretty`), one short line of text. */
export function createLogger(options: { readonly level: LogLevel; readonly pretty: boolean }): Logger {
  const { level, pretty } = options;
  // Synchronous, so that the last lines before an exit are not lost.
  const destination = pino.destination({ dest: 2, sync: true });
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: loggedError },
    },
    pretty ? { write: (line: string) => void destination.write(`${plainText(forPeople(line))}\n`) } : destination,
  );
  return {
    debug: (message, details) => log.debug(details ?? {}, message),
    info: (message, details) => log.info(details ?? {}, message),
    warn: (message, details) => log.warn(details ?? {}, message),
    error: (message, details) => log.error(details ?? {}, message),
  };
}

/** Errors of agents and libraries sometimes quote the request that failed, with its credentials. */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, stack, ...facts } = pino.stdSerializers.err(error);
  return { ...facts, message: maskCredentials(message), stack: maskCredentials(stack) };
}

/** `{"level":"info","time":"2030-01-31T12:00:00.000Z","msg":"Started","port":3000}` becomes `12:00:00 info  Started port=3000`. */
function forPeople(line: string): string {
  const { level, time, msg, error, ...details } = JSON.parse(line) as Record<string, unknown>;
  const facts = Object.entries(details).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const clock = String(time).slice(11, 19);
  return `${clock} ${String(level).padEnd(5)} ${String(msg)}${facts.join("")}${errorText(error)}`;
}

function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return error === undefined ? "" : ` error=${JSON.stringify(error)}`;
  const stack = "stack" in error && typeof error.stack === "string" ? error.stack : JSON.stringify(error);
  return `\n  ${stack.replaceAll("\n", "\n  ")}`;
}
