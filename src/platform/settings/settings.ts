import type { EngineHooks } from "../../engine/api.ts";
import type { Limits } from "../../engine/limits.ts";
import type { Logger } from "../../internal/logger.ts";
import type { OutgoingOptions } from "../../outgoing/contract.ts";
import type { PushHooks } from "../../push/contract.ts";
import type { SecurityOptions } from "../../server/security.ts";
import type { Retention, Store } from "../../store/contract.ts";
import { CorsPolicy } from "../../transport/cors.ts";
import type { Authenticate, TransportHooks, TransportLimits } from "../../transport/options.ts";
import type { RateLimitOptions } from "../../transport/rate-limit/request-limits.ts";
import { trustedProxies } from "../../transport/trusted-proxies.ts";
import type { DialectOptions } from "../../wire/options.ts";
import type { ArrivalTimeouts } from "../listener.ts";
import type { AuditRecord } from "../security/audit-log.ts";
import { type ServingTls, servingTlsFrom, type TlsOptions } from "../security/security-tls.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { dialectOptionsFrom } from "./dialect-settings.ts";
import { listFrom } from "./list-from.ts";
import { type CheckedPush, outgoingFrom, type PushServerOptions, pushSettingsFrom } from "./push-settings.ts";
import { rateLimitFrom } from "./rate-settings.ts";
import { checkServerId } from "./server-id.ts";

export const DEFAULT_STORE = "sqlite:./.palaver/palaver.db";

/** When a commit counts as done: `full`, on the disk; `process`, out of this process's hands (a power cut may lose the last moments). */
export const DURABILITIES = ["full", "process"] as const;
export type Durability = (typeof DURABILITIES)[number];

/** What one process, one task and one request may use. */
export interface ServerLimits extends Limits, Required<TransportLimits> {}

/** Everything a server can be told. All of it has a default. Times are milliseconds. */
export interface ServerOptions extends DialectOptions {
  /** Default: `PORT`, else 3000. 0 picks a free one. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: `BIND_HOST`, else 127.0.0.1. */
  readonly host?: string | undefined;
  /**
   * Where callers reach this server from outside, as agent cards say it. Default: `PUBLIC_URL`, else what a trusted proxy says, else
   * the address it listens on.
   */
  readonly publicUrl?: string | undefined;
  /**
   * Proxies whose forwarded headers are believed: addresses, subnets such as `10.0.0.0/8`, and the words `loopback` and
   * `private`. Default: `TRUSTED_PROXIES`, separated by commas, else none.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Origins whose web pages may call the agents; `*` is any. Cards may be read from everywhere. Default: `CORS_ORIGINS`, separated
   * by commas, else none.
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /** `memory:`, `sqlite:FILE`, or an open store, which is then the caller's to close. Default `sqlite:./.palaver/palaver.db`. */
  readonly store?: string | Store | undefined;
  /**
   * Seals what is kept but must not be read from the store: secrets of webhooks, sensitive answers. 32 bytes at least, the same after a
   * restart and on every node. Default: a file beside a SQLite store; for an open store random bytes, so that what it sealed is lost with the
   * process.
   */
  readonly secret?: Uint8Array | undefined;
  /**
   * Names this server in the paths of calls between agents, by which it recognises a message that comes back to it: 1 to 64 letters,
   * digits, dots, dashes or underscores, the same after a restart and on every node, and no other server's. Default: derived from `secret`.
   */
  readonly serverId?: string | undefined;
  /** Of a SQLite store. Default `full`. */
  readonly durability?: Durability | undefined;
  /** What finished tasks to delete. Default: none; in memory, the oldest 100 when there are 1000 tasks. */
  readonly retention?: Retention | undefined;
  /**
   * Calls in the plain dialect that name no agent are refused where no agent declares a `defaultProjectId`. Default false: they are
   * for the first agent then.
   */
  readonly requireDefaultProject?: boolean | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  /** How often callers may call. Default: `RATE_LIMIT` and `ADDRESS_RATE_LIMIT`, else as often as they like. */
  readonly rateLimit?: RateLimitOptions | undefined;
  /** How long a request's head may take to arrive. Default 10 000. */
  readonly headersTimeout?: number | undefined;
  /** How long a whole request may take to arrive. Default 60 000. */
  readonly requestTimeout?: number | undefined;
  /**
   * A message that comes again within the window, from the same caller and under the same id, counts once: it gets the task that it made.
   * Cards say so. Default: every message counts.
   */
  readonly idempotency?: { readonly window: number } | undefined;
  /**
   * A message that carries a `contextId` and no `taskId` continues the caller's task of that context that waits for input, if there is exactly
   * one. Default true; `false`: it always begins a new task.
   */
  readonly answerByContext?: boolean | undefined;
  /** Between two comments that keep a quiet stream open. Default 15 000. */
  readonly heartbeat?: number | undefined;
  /** How long running tasks may go on after `close` was called. Default 8 000, less than container runtimes wait. */
  readonly drainTimeout?: number | undefined;
  /** How long a canceled run may take to end by itself. Default 5 000. */
  readonly cancelGrace?: number | undefined;
  /** After how long without a sign of life another node may take over this one's tasks. Default 30 000. */
  readonly lease?: number | undefined;
  /** Says who calls. Default: everybody is the same anonymous caller. */
  readonly authenticate?: Authenticate | undefined;
  /** Who may call and what they may do: schemes that every card declares, and policies. Instead of `authenticate`. */
  readonly security?: SecurityOptions | undefined;
  /** Cards carry signatures by the keys at `/.well-known/jwks.json`. Default false. */
  readonly signCards?: boolean | undefined;
  /** Serves HTTPS. Default: HTTP, for a proxy in front or for this machine. */
  readonly tls?: TlsOptions | undefined;
  /** Every call and every refusal, without what was said: appended as JSON lines to this file, or told to a function. Default: none. */
  readonly audit?: string | ((record: AuditRecord) => void) | undefined;
  /** How webhooks are told. `false`: none are, and cards say so. Default: they are. */
  readonly push?: false | PushServerOptions | undefined;
  /**
   * Where requests may go whose addresses callers named, such as webhooks. Default: to the public internet over HTTPS, and what
   * `OUTGOING_HTTP` and `OUTGOING_ALLOW` say.
   */
  readonly outgoing?: OutgoingOptions | undefined;
  /** Told of calls, committed events, deliveries and failures, after the fact. */
  readonly on?: (EngineHooks["on"] & TransportHooks["on"] & PushHooks["on"]) | undefined;
  readonly transform?: EngineHooks["transform"] | undefined;
  /** Default: JSON lines on standard error, from `LOG_LEVEL` (`info`) on. */
  readonly logger?: Logger | undefined;
  /**
   * Called, after it was logged, when the store failed in a way that only a restart can mend: whether something was written
   * cannot be known, and nobody is answered any more. Default: the process exits with 1.
   */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** What of the options has been checked and filled in. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly dialects: DialectOptions;
  readonly store: string | Store;
  readonly heartbeat: number;
  readonly drainTimeout: number;
  /** Idempotency window in milliseconds: a repeated message gets the earlier task. Absent: no idempotency. */
  readonly idempotencyWindow: number | undefined;
  /** Absent: nobody is notified. */
  readonly push: CheckedPush | undefined;
  readonly outgoing: OutgoingOptions;
  readonly rateLimit: RateLimitOptions | undefined;
  readonly timeouts: ArrivalTimeouts;
  readonly tls: ServingTls | undefined;
}

/** Throws a {@link StartupError} for what makes no sense. */
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
    store: options.store ?? DEFAULT_STORE,
    heartbeat: duration("heartbeat", options.heartbeat, 15_000),
    drainTimeout: duration("drainTimeout", options.drainTimeout, 8_000),
    idempotencyWindow: windowFrom(options.idempotency),
    push: pushSettingsFrom(options),
    outgoing: outgoingFrom(options, env),
    rateLimit: rateLimitFrom(options.rateLimit, env),
    timeouts: timeoutsFrom(options),
    tls: options.tls === undefined ? undefined : servingTlsFrom(options.tls),
  };
}

/** The list, if its reader understands it. */
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
  return url.href.replace(/\/+$/, "");
}

function timeoutsFrom(options: ServerOptions): ArrivalTimeouts {
  const whole = duration("requestTimeout", options.requestTimeout, 60_000);
  const head = duration("headersTimeout", options.headersTimeout, Math.min(10_000, whole));
  if (head === 0 || whole === 0) {
    throw new StartupError(
      "usage",
      "headersTimeout and requestTimeout must be more than 0: without them one caller can keep connections for ever.",
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

function duration(name: string, value: number | undefined, standard: number): number {
  if (value === undefined) return standard;
  if (Number.isFinite(value) && value >= 0) return value;
  throw new StartupError("usage", `${name} must be a number of milliseconds, not ${String(value)}.`);
}
