import { type Command, InvalidArgumentError, Option } from "commander";
import { createLogger, LOG_LEVELS, type LogLevel, logLevelFrom } from "../../platform/create-logger.ts";
import { LOG_FORMATS, type LogFormat } from "../../platform/observe/request-log.ts";
import type { ServeOptions } from "../../platform/serve.ts";
import { CHOICES, parseBlockingDefault } from "../../platform/settings/dialect-settings.ts";
import { listFrom } from "../../platform/settings/list-from.ts";
import { parseRate } from "../../platform/settings/rate-settings.ts";
import { DEFAULT_STORE, DURABILITIES } from "../../platform/settings/settings.ts";
import { DEFAULT_MAX_HOPS } from "../../protocol/call-path.ts";
import { addPushOptions, apartFromPush, PUSH_ENVIRONMENT, type PushFlags } from "./push-options.ts";
import {
  addSecurityOptions,
  apartFromSecurity,
  SECURITY_ENVIRONMENT,
  type SecurityFlags,
  securityOptionsFrom,
} from "./security-options.ts";

/** The default of `--idempotent-window`, in seconds. */
const DEFAULT_WINDOW = 600;

/** The end of the help of commands that serve agents. */
export const SERVING_ENVIRONMENT: string = `
Environment, where the flag is not given:
  PORT                the port (default 3000)
  BIND_HOST           the address to listen on (default 127.0.0.1)
  PUBLIC_URL          as --public-url
  TRUSTED_PROXIES     as --trusted-proxies
  CORS_ORIGINS        as --cors-origin, separated by commas
  RATE_LIMIT          as --rate-limit
  ADDRESS_RATE_LIMIT  as --address-rate-limit
  A2A_CARD            as --card
  A2A_VERSIONS        as --versions
  A2A_PREVIEW         as --preview
  A2A_ASSUME_VERSION  as --assume-version
${SECURITY_ENVIRONMENT}${PUSH_ENVIRONMENT}  METRICS_TOKEN       token that callers of /metrics need (default: only this machine may read them)
  OTEL_EXPORTER_OTLP_ENDPOINT
                      as --otlp; the other OTEL_ variables are in docs/operations/observability.md
  LOG_LEVEL           ${LOG_LEVELS.join(", ")} (default info)
  NO_COLOR            if set, no colors in the log
  DEBUG               if set, errors at start-up come with their stack
`;

/** Flags whose names and values are those of the server options. */
type SharedFlags = Pick<
  ServeOptions,
  | "port"
  | "host"
  | "store"
  | "bus"
  | "durability"
  | "publicUrl"
  | "signCards"
  | "answerByContext"
  | "grpc"
  | "otlp"
  | "card"
  | "assumeVersion"
  | "lenient"
  | "errorProfile"
  | "restMediaType"
  | "restStyle"
>;

/** Server options with the same names, and flags whose names differ. */
export interface ServingFlags extends SharedFlags, SecurityFlags, PushFlags {
  /** Separated by commas. */
  readonly trustedProxies?: string;
  readonly corsOrigin?: readonly string[];
  /** Separated by commas. */
  readonly versions?: string;
  /** Separated by commas. */
  readonly preview?: string;
  readonly blockingDefault?: readonly string[];
  /** Serve the agents as tools of MCP. `--mcp` of `palaver serve` is something else: MCP servers to make agents of. */
  readonly mcpTools?: boolean;
  /** As `parseRate` reads it: `600/60s`. */
  readonly rateLimit?: string;
  readonly addressRateLimit?: string;
  readonly idempotentSend?: boolean;
  /** Seconds. */
  readonly idempotentWindow?: number;
  readonly maxHops?: number;
  readonly maxTasks?: number;
  /** Days. */
  readonly maxAge?: number;
  /** Seconds, unlike the server option of this name. */
  readonly drainTimeout?: number;
  readonly logLevel?: LogLevel;
  readonly verbose?: boolean;
  readonly logFormat?: LogFormat;
  readonly quiet?: boolean;
  readonly metrics?: boolean;
  readonly operator?: boolean;
  readonly console?: boolean;
}

/** Adds the options of every command that serves agents. */
export function addServingOptions(command: Command): void {
  command
    .optionsGroup("Network:")
    .option("-p, --port <number>", "port to listen on; 0 picks a free one", wholeNumber)
    .option("--host <address>", "address to listen on; 0.0.0.0 for all addresses")
    .option("--public-url <url>", "URL at which callers reach this server; agent cards name it")
    .option(
      "--trusted-proxies <list>",
      "proxies whose X-Forwarded headers are trusted: addresses, subnets, loopback, private",
    )
    .option(
      "--cors-origin <origin>",
      "origin of web pages that may call the agents; * for all; may be repeated",
      collect,
    )
    .option("--no-grpc", "do not serve gRPC, which is otherwise on the same port")
    .option(
      "--no-mcp-tools",
      "do not serve the agents as tools of the Model Context Protocol, which are otherwise at /mcp",
    )
    .optionsGroup("Storage:")
    .option("--store <store>", `where to store tasks: sqlite:FILE, postgres://… or memory: (default: ${DEFAULT_STORE})`)
    .option(
      "--bus <url>",
      "how nodes on PostgreSQL notify each other of changes: nats://…, or nats: for NATS_URL (default: NOTIFY of PostgreSQL)",
    )
    .addOption(
      new Option("--durability <level>", "full survives a power failure, process only a crash (default: full)").choices(
        DURABILITIES,
      ),
    )
    .option("--max-tasks <number>", "delete the oldest finished tasks once this many tasks are stored", wholeNumber)
    .option("--max-age <days>", "delete finished tasks older than this many days", wholeNumber);
  command.optionsGroup("Authentication and TLS:");
  addSecurityOptions(command);
  command
    .option("--sign-cards", "sign agent cards; the public keys are at /.well-known/jwks.json")
    .optionsGroup("Limits:")
    .option("--rate-limit <requests/time>", "requests per caller, such as 600/60s or 100/m (default: no limit)")
    .option(
      "--address-rate-limit <requests/time>",
      "requests per network address, all callers together (default: no limit)",
    )
    .option("--idempotent-send", "process a message only once, even if it is sent again with the same id")
    .option(
      "--idempotent-window <seconds>",
      `how long message ids are remembered (default: ${DEFAULT_WINDOW}); implies --idempotent-send`,
      wholeNumber,
    )
    .option(
      "--no-answer-by-context",
      "a message with a contextId but no taskId starts a new task, even if a task in that context waits for input",
    )
    .option(
      "--max-hops <number>",
      `reject messages that more agents than this have forwarded (default: ${DEFAULT_MAX_HOPS})`,
      wholeNumber,
    )
    .option(
      "--drain-timeout <seconds>",
      "how long running tasks may continue after a stop signal (default: 8; with other nodes, tasks go to them at once)",
      wholeNumber,
    )
    .optionsGroup("Webhooks:");
  addPushOptions(command);
  command.optionsGroup("Protocol versions:");
  addDialectOptions(command);
  command
    .optionsGroup("Logging and traces:")
    .option("--otlp <url>", "send traces to this OpenTelemetry collector (OTLP/HTTP), such as http://127.0.0.1:4318")
    .addOption(new Option("--log-level <level>", "what to log on standard error (default: info)").choices(LOG_LEVELS))
    .addOption(
      new Option(
        "--log-format <format>",
        "pretty for people, json for programs (default: pretty on a terminal)",
      ).choices(LOG_FORMATS),
    )
    .option("--quiet", "do not log each call")
    .option("--verbose", "debug logs, and stack traces of start-up errors")
    .optionsGroup("Operators:")
    .option("--no-console", "no console at /console, the web page for people")
    .option("--no-metrics", "no metrics at /metrics")
    .option("--no-operator", "no operator API at /operator/v1, which palaver admin, palaver trace and the console use");
}

/** Adds the options about protocol versions and bindings. */
function addDialectOptions(command: Command): void {
  command
    .addOption(
      new Option(
        "--card <style>",
        "card for requests without a version: hybrid fits every version, strict only the newest",
      ).choices(CHOICES.card),
    )
    .option("--versions <list>", `versions to support, of ${CHOICES.version.join(", ")} (default: all)`)
    .option(
      "--preview <list>",
      `unfinished versions to support as well, of ${CHOICES.preview.join(", ")}; they may change`,
    )
    .addOption(
      new Option(
        "--assume-version <version>",
        `version of requests that neither state nor show one (default: ${CHOICES.assumeVersion[0]})`,
      ).choices(CHOICES.assumeVersion),
    )
    .option("--lenient", "accept methods of another version than the request states")
    .option("--no-lenient", "strict: reject anything that the stated version does not define")
    .addOption(
      new Option(
        "--error-profile <edition>",
        "specification edition that defines the HTTP statuses of REST errors",
      ).choices(CHOICES.errorProfile),
    )
    .addOption(
      new Option(
        "--rest-media-type <type>",
        "media type of REST responses if the request has no Accept header",
      ).choices(CHOICES.restMediaType),
    )
    .addOption(
      new Option(
        "--rest-style <style>",
        "style of REST responses in older versions if the request does not show one",
      ).choices(CHOICES.restStyle),
    )
    .option(
      "--blocking-default <dialect=wait|return|ms>",
      `whether a send waits for the task if the request does not say, for ${CHOICES.waitingDialect.join(", ")}; may be repeated`,
      collect,
    );
}

/** Turns the flags into server options. */
export function servingOptionsFrom(flags: ServingFlags): ServeOptions {
  const { trustedProxies, corsOrigin, versions, preview, blockingDefault, maxTasks, maxAge, drainTimeout, ...rest } =
    flags;
  const { rateLimit, addressRateLimit, idempotentSend, idempotentWindow, maxHops, logLevel, verbose, ...observing } =
    rest;
  const { logFormat, quiet, metrics, operator, console, mcpTools, ...more } = observing;
  const { push, others } = apartFromPush(more);
  const { security, shared } = apartFromSecurity(others);
  const level = verbose === true ? "debug" : (logLevel ?? logLevelFrom());
  const format = logFormat ?? (process.stderr.isTTY ? "pretty" : "json");
  const logger = createLogger({ level, pretty: format === "pretty" });
  return {
    ...shared,
    ...push,
    ...securityOptionsFrom(security, { store: shared.store, logger }),
    trustedProxies: trustedProxies === undefined ? undefined : listFrom(trustedProxies),
    corsOrigins: corsOrigin?.flatMap(listFrom),
    versions: versions === undefined ? undefined : listFrom(versions),
    preview: preview === undefined ? undefined : listFrom(preview),
    mcp: mcpTools,
    blockingDefault: blockingDefault === undefined ? undefined : parseBlockingDefault(blockingDefault),
    retention:
      maxTasks === undefined && maxAge === undefined
        ? undefined
        : { ...(maxTasks !== undefined && { maxTasks }), ...(maxAge !== undefined && { maxAge: maxAge * 86_400_000 }) },
    idempotency:
      idempotentSend === true || idempotentWindow !== undefined
        ? { window: (idempotentWindow ?? DEFAULT_WINDOW) * 1000 }
        : undefined,
    limits: maxHops === undefined ? undefined : { maxHops },
    drainTimeout: drainTimeout === undefined ? undefined : drainTimeout * 1000,
    rateLimit: {
      principal: rateLimit === undefined ? undefined : parseRate(rateLimit),
      address: addressRateLimit === undefined ? undefined : parseRate(addressRateLimit),
    },
    logger,
    requestLog: quiet !== true && (level === "debug" || level === "info") ? format : false,
    metrics: metrics === false ? false : undefined,
    operator: operator === false ? false : undefined,
    console,
    banner: true,
  };
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** Collects the values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
