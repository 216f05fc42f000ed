import type { EngineHooks } from "../../engine/api.ts";
import type { Limits } from "../../engine/limits.ts";
import type { Logger } from "../../internal/logger.ts";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { OutgoingOptions } from "../../outgoing/contract.ts";
import type { PushHooks } from "../../push/contract.ts";
import type { SecurityOptions } from "../../server/security.ts";
import type { Retention, Store } from "../../store/contract.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import { CorsPolicy } from "../../transport/cors.ts";
import type { Authenticate, TransportHooks, TransportLimits } from "../../transport/options.ts";
import type { RateLimitOptions } from "../../transport/rate-limit/request-limits.ts";
import { trustedProxies } from "../../transport/trusted-proxies.ts";
import type { DialectOptions } from "../../wire/options.ts";
import type { ArrivalTimeouts } from "../listener.ts";
import type { AuditRecord } from "../security/audit-log.ts";
import { type ServingTls, servingTlsFrom, type TlsOptions } from "../security/security-tls.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { type CallServerOptions, callSettingsFrom } from "./call-settings.ts";
import { dialectOptionsFrom } from "./dialect-settings.ts";
import { listFrom } from "./list-from.ts";
import { type McpOptions, type McpServerSettings, mcpSettingsFrom } from "./mcp-settings.ts";
import { type ObserveOptions, type ObserveSettings, observeSettingsFrom } from "./observe-settings.ts";
import { type CheckedPush, outgoingFrom, type PushServerOptions, pushSettingsFrom } from "./push-settings.ts";
import { rateLimitFrom } from "./rate-settings.ts";
import { checkServerId } from "./server-id.ts";

/** The store of a server that names none. */
export const DEFAULT_STORE = "sqlite:./.palaver/palaver.db";

/** When a commit counts as stored. */
export const DURABILITIES = ["full", "process"] as const;
/**
 * When a commit of a SQLite or PostgreSQL store counts as stored. `full`: written to disk, so it survives a power failure. `process`: handed to the
 * operating system or the database server, so it survives a crash of the process, but a power failure may lose the last commits.
 */
export type Durability = (typeof DURABILITIES)[number];

/** Limits of one process, one task and one request. */
export interface ServerLimits extends Limits, Required<TransportLimits> {}

/** Options of a server. All are optional. Durations are milliseconds. Invalid values throw a `StartupError` of kind `usage`. */
export interface ServerOptions extends DialectOptions, ObserveOptions {
  /** Port to listen on. 0 picks a free one. Default: `PORT`, else 3000. */
  readonly port?: number | undefined;
  /** Address to listen on. Default: `BIND_HOST`, else 127.0.0.1. */
  readonly host?: string | undefined;
  /**
   * Public URL of this server, as agent cards state it. Default: `PUBLIC_URL`, else the URL that a trusted proxy forwards, else the address that the
   * server listens on.
   */
  readonly publicUrl?: string | undefined;
  /**
   * Proxies whose forwarded headers are trusted: addresses, subnets such as `10.0.0.0/8`, and the words `loopback` and `private`.
   * Default: `TRUSTED_PROXIES`, separated by commas, else none.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Origins whose web pages may call the agents; `*` allows any. Pages of any origin may read public agent cards. Default: `CORS_ORIGINS`, separated by
   * commas, else none.
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * Serve gRPC on the same port. It needs the package `@bufbuild/protobuf`; without it the server logs a warning and serves the rest.
   * Default true.
   */
  readonly grpc?: boolean | undefined;
  /**
   * Serve the agents as tools of the Model Context Protocol, at `/mcp` and `/agents/{id}/mcp`. It needs the package `@modelcontextprotocol/server`; without
   * it clients get an error that says so. Default true.
   */
  readonly mcp?: boolean | McpOptions | undefined;
  /**
   * `memory:`, `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, or an open store, which the caller closes. `postgres:` alone uses the
   * address in `DATABASE_URL`. PostgreSQL needs the package `pg`. Default `sqlite:./.palaver/palaver.db`.
   */
  readonly store?: string | Store | undefined;
  /**
   * How nodes that share a PostgreSQL store notify each other of changes: `nats://USER:PASSWORD@HOST`, or `nats:` for the address in `NATS_URL`. NATS
   * needs the package `@nats-io/transport-node`. Default: NOTIFY of PostgreSQL.
   */
  readonly bus?: string | undefined;
  /**
   * Key that encrypts secrets in the store: credentials of webhooks and sensitive answers. At least 32 bytes, the same after a restart and on every node.
   * Default: a file beside a SQLite store; a row of a PostgreSQL store; for an open store, random bytes, so encrypted values cannot be read after a restart.
   */
  readonly secret?: Uint8Array | undefined;
  /**
   * Name of this server in the call paths between agents, by which it detects loops: 1 to 64 letters, digits, dots, dashes or underscores; the same
   * after a restart and on every node, and different from other servers. Default: derived from `secret`.
   */
  readonly serverId?: string | undefined;
  /** When a commit of a SQLite or PostgreSQL store counts as stored. Default `full`. */
  readonly durability?: Durability | undefined;
  /** Which finished tasks to delete. Default: none; for `memory:`, the oldest 100 once 1000 tasks are stored. */
  readonly retention?: Retention | undefined;
  /** Limits of one process, one task and one request. Each has a default. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Requests per caller and per network address. Default: `RATE_LIMIT` and `ADDRESS_RATE_LIMIT`, else no limit. */
  readonly rateLimit?: RateLimitOptions | undefined;
  /** How long the headers of a request may take to arrive. Default 10 000. */
  readonly headersTimeout?: number | undefined;
  /** How long a whole request may take to arrive. Default 60 000. */
  readonly requestTimeout?: number | undefined;
  /**
   * Idempotency: a caller that repeats a message with the same id within `window` milliseconds gets the earlier task. Agent cards declare it. Default:
   * off, every message is processed.
   */
  readonly idempotency?: { readonly window: number } | undefined;
  /**
   * Whether a message with a `contextId` but no `taskId` answers the caller's task in that context that waits for input, if there is exactly one.
   * Default true. `false`: such a message always starts a new task.
   */
  readonly answerByContext?: boolean | undefined;
  /** Time between two comments that keep a quiet stream open. Default 15 000. */
  readonly heartbeat?: number | undefined;
  /**
   * How long running tasks may continue after `close`. Default 8000, less than container runtimes wait before they kill a process; and other living
   * nodes on PostgreSQL take the tasks over at once, unless this is set.
   */
  readonly drainTimeout?: number | undefined;
  /** How long a canceled run may take to stop by itself. Default 5000. */
  readonly cancelGrace?: number | undefined;
  /** How long a node may be silent before other nodes claim its tasks. Default 30 000; with PostgreSQL 5000. */
  readonly lease?: number | undefined;
  /** Identifies the caller of a request. Default: all callers are the same anonymous caller. */
  readonly authenticate?: Authenticate | undefined;
  /** Authentication schemes, which every card declares, and policies. Replaces `authenticate`. */
  readonly security?: SecurityOptions | undefined;
  /** Sign agent cards. The public keys are at `/.well-known/jwks.json`. Default false. */
  readonly signCards?: boolean | undefined;
  /** Serve HTTPS. Default: HTTP, for use behind a proxy or on this machine. */
  readonly tls?: TlsOptions | undefined;
  /** Records every call and every rejected call, without message content: a file for JSON lines, or a function. Default: none. */
  readonly audit?: string | ((record: AuditRecord) => void) | undefined;
  /** How webhooks are notified. `false`: webhooks are not supported, and agent cards say so. Default: the defaults of `PushServerOptions`. */
  readonly push?: false | PushServerOptions | undefined;
  /**
   * Which addresses the server may call if a caller names them, such as webhooks. Default: HTTPS on the public internet, plus what `OUTGOING_HTTP` and
   * `OUTGOING_ALLOW` allow.
   */
  readonly outgoing?: OutgoingOptions | undefined;
  /** Limits of calls between agents (`task.call`), and which other servers' ancestry is trusted. Each limit has a default. */
  readonly calls?: CallServerOptions | undefined;
  /** Listeners for calls, committed events, webhook deliveries and failures. Called afterwards; they cannot change anything. */
  readonly on?: (EngineHooks["on"] & TransportHooks["on"] & PushHooks["on"]) | undefined;
  /** Functions that change messages and events before they are stored. */
  readonly transform?: EngineHooks["transform"] | undefined;
  /** Observes calls, attempts, steps, commits and deliveries, for traces and metrics. Its members must be fast and must not throw. Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * Collector to which traces are sent as OTLP/HTTP with JSON, such as `http://127.0.0.1:4318`. Default: the OpenTelemetry SDK, if one is registered;
   * else `OTEL_EXPORTER_OTLP_ENDPOINT`; else nothing is traced.
   */
  readonly otlp?: string | undefined;
  /** Default: JSON lines on standard error, at level `LOG_LEVEL` (`info`) and above. */
  readonly logger?: Logger | undefined;
  /**
   * Called after a store failure that only a restart can fix: it is unknown whether a commit was written, and all requests are rejected from then on. The
   * failure is logged first. Default: the process exits with code 1.
   */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** Server options after validation, with defaults filled in. Durations are milliseconds. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly publicUrl: string | undefined;
  /** Empty: forwarded headers are ignored. */
  readonly trustedProxies: readonly string[];
  /** Empty: no web page of another origin may call the agents. */
  readonly corsOrigins: readonly string[];
  readonly dialects: DialectOptions;
  readonly grpc: boolean;
  /** Absent: MCP is not served. */
  readonly mcp: McpServerSettings | undefined;
  readonly store: string | Store;
  readonly heartbeat: number;
  readonly drainTimeout: number;
  /** How long message ids are remembered. Absent: idempotency is off. */
  readonly idempotencyWindow: number | undefined;
  /** Absent: webhooks are not supported. */
  readonly push: CheckedPush | undefined;
  readonly outgoing: OutgoingOptions;
  readonly calls: CallServerOptions;
  readonly rateLimit: RateLimitOptions | undefined;
  readonly timeouts: ArrivalTimeouts;
  readonly tls: ServingTls | undefined;
  readonly observe: ObserveSettings;
}

/** Validates the options and fills in defaults from the environment. Throws a {@link StartupError} of kind `usage` for invalid values. */
export function settingsFrom(options: ServerOptions, env: NodeJS.ProcessEnv = process.env): Settings {
  const { durability } = options;
  const publicUrl = options.publicUrl ?? (env["PUBLIC_URL"] || undefined);
  if (durability !== undefined && !DURABILITIES.includes(durability)) {
    throw new StartupError("usage", `durability must be "full" or "process", not ${JSON.stringify(durability)}.`);
  }
  checkServerId(options.serverId);
  return {
    port: portFrom(options.port ?? env["PORT"]),
    host: options.host || env["BIND_HOST"] || "127.0.0.1",
    publicUrl: publicUrl === undefined ? undefined : baseUrlFrom(publicUrl),
    trustedProxies: checked(options.trustedProxies ?? listFrom(env["TRUSTED_PROXIES"]), trustedProxies),
    corsOrigins: checked(options.corsOrigins ?? listFrom(env["CORS_ORIGINS"]), (origins) => new CorsPolicy(origins)),
    dialects: dialectOptionsFrom(options, env),
    grpc: options.grpc ?? true,
    mcp: mcpSettingsFrom(options.mcp),
    store: options.store ?? DEFAULT_STORE,
    heartbeat: duration("heartbeat", options.heartbeat, 15_000),
    drainTimeout: duration("drainTimeout", options.drainTimeout, 8_000),
    idempotencyWindow: windowFrom(options.idempotency),
    push: pushSettingsFrom(options),
    outgoing: outgoingFrom(options, env),
    calls: callSettingsFrom(options.calls),
    rateLimit: rateLimitFrom(options.rateLimit, env),
    timeouts: timeoutsFrom(options),
    tls: options.tls === undefined ? undefined : servingTlsFrom(options.tls),
    observe: observeSettingsFrom(options, { env, hasSecurity: options.security !== undefined }),
  };
}

/** The list, if `read` accepts it. Throws a {@link StartupError} otherwise. */
function checked(list: readonly string[], read: (list: readonly string[]) => unknown): readonly string[] {
  try {
    read(list);
    return list;
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

function portFrom(value: number | string | undefined): number {
  if (value === undefined || value === "") return 3000;
  const port = Number(value);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new StartupError("usage", `The port must be a number from 0 to 65535, not ${JSON.stringify(value)}.`);
  }
  return port;
}

/** `https://h/x/` becomes `https://h/x`: paths are appended to it. */
function baseUrlFrom(value: string): string {
  const url = URL.parse(value);
  const isBase =
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
  if (!isBase) {
    throw new StartupError(
      "usage",
      `The public URL must be like https://agents.example.org, not ${JSON.stringify(value)}.`,
    );
  }
  return withoutTrailing(url.href, "/");
}

/** A short `requestTimeout` also shortens the default of `headersTimeout`. */
function timeoutsFrom(options: ServerOptions): ArrivalTimeouts {
  const whole = duration("requestTimeout", options.requestTimeout, 60_000);
  const head = duration("headersTimeout", options.headersTimeout, Math.min(10_000, whole));
  if (head === 0 || whole === 0) {
    throw new StartupError(
      "usage",
      "headersTimeout and requestTimeout must be more than 0: otherwise one caller can keep connections open forever.",
    );
  }
  if (head > whole) throw new StartupError("usage", "headersTimeout must not be longer than requestTimeout.");
  return { head, whole };
}

function windowFrom(idempotency: ServerOptions["idempotency"]): number | undefined {
  if (idempotency === undefined) return undefined;
  const window = duration("idempotency.window", idempotency.window, 0);
  if (window > 0) return window;
  throw new StartupError("usage", "idempotency.window must be more than 0 milliseconds.");
}

/** Rejects `Infinity` too: timers cannot wait that long. */
function duration(name: string, value: number | undefined, standard: number): number {
  if (value === undefined) return standard;
  if (Number.isFinite(value) && value >= 0) return value;
  throw new StartupError("usage", `${name} must be a number of milliseconds, not ${String(value)}.`);
}
