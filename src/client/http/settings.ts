import { type Clock, createClock } from "../../internal/clock.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import type { Authorize, Guard, HttpOptions } from "./contract.ts";
import { type Send, senderOf } from "./send.ts";
import { guardOf } from "./url-guard.ts";

/** How often to try again, and how long to wait in between. */
export interface RetryOptions {
  /** Attempts of one call, including the first. 1: no retries. Default 5. */
  readonly attempts?: number;
  /** Connections in a row without a new event until a stream fails with `stream-lost`. 0: no reconnects. Default 10. */
  readonly reconnects?: number;
  /** Milliseconds before the second attempt, varied at random by up to half. The wait doubles after each attempt. Default 500. */
  readonly baseDelay?: number;
  /** The longest wait in milliseconds. If a server asks for a longer wait (`Retry-After`), the call fails at once. Default 30 000. */
  readonly maxDelay?: number;
}

/** How to call a remote agent. */
export interface ClientOptions extends HttpOptions {
  /** Adds credentials to each request. Default: none. */
  readonly authorize?: Authorize;
  /** URIs of protocol extensions to request in every call. Default: none. */
  readonly extensions?: readonly string[];
  /** Observes each request, for traces and metrics; must be fast and must not throw. Its trace context is sent along. Default: none. */
  readonly telemetry?: Pick<Telemetry, "request"> | undefined;
  /** Milliseconds for calls that do not wait for the agent's work. Default 30 000. */
  readonly timeout?: number;
  /** Retries and reconnects. */
  readonly retry?: RetryOptions;
  /**
   * Whether to resend a message, with the same id, if the connection broke before the agent answered. Default: only if the agent's card
   * declares that it recognises repeated messages. Other agents might do the work twice.
   */
  readonly resend?: boolean;
  /** The largest response in bytes. A larger one fails with `response-too-large`. Default 32 MiB. */
  readonly maxResponseBytes?: number;
  /** The longest event of a stream in characters. A longer one fails with `event-too-large`. Default 8 Mi. */
  readonly maxEventLength?: number;
  /**
   * About how many bytes of artifacts one stream keeps for `task` and `result()`: 2 per character and 160 per part. A stream with more
   * continues without them, and its `task` and `result()` fail with `result-too-large`. Default 32 MiB.
   */
  readonly maxResultBytes?: number;
  /** Milliseconds without any bytes, heartbeats included, after which a stream counts as broken. Default: no limit. */
  readonly idleTimeout?: number;
  /** Milliseconds between polls of a task that cannot be streamed: at first, and at most. Default 1000 and 10 000. */
  readonly poll?: { readonly first?: number; readonly most?: number };
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock;
  /** Replaces `Math.random`, for tests. Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/** Client options with all defaults filled in. */
export interface ClientSettings {
  readonly send: Send;
  readonly guard: Guard | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorize: Authorize | undefined;
  readonly extensions: readonly string[];
  readonly telemetry: Pick<Telemetry, "request"> | undefined;
  readonly timeout: number;
  readonly retry: Required<RetryOptions>;
  readonly resend: boolean | undefined;
  readonly maxResponseBytes: number;
  readonly maxEventLength: number;
  readonly maxResultBytes: number;
  readonly idleTimeout: number;
  readonly poll: { readonly first: number; readonly most: number };
  readonly clock: Clock;
  readonly random: () => number;
}

const MEBI = 1024 * 1024;

/** Fills in the defaults. Does not check the values. */
export function clientSettings(options: ClientOptions = {}): ClientSettings {
  const { retry = {}, poll = {} } = options;
  return {
    send: senderOf(options),
    guard: guardOf(options.guard),
    headers: options.headers ?? {},
    authorize: options.authorize,
    extensions: options.extensions ?? [],
    telemetry: options.telemetry,
    timeout: options.timeout ?? 30_000,
    retry: {
      attempts: retry.attempts ?? 5,
      reconnects: retry.reconnects ?? 10,
      baseDelay: retry.baseDelay ?? 500,
      maxDelay: retry.maxDelay ?? 30_000,
    },
    resend: options.resend,
    maxResponseBytes: options.maxResponseBytes ?? 32 * MEBI,
    maxEventLength: options.maxEventLength ?? 8 * MEBI,
    maxResultBytes: options.maxResultBytes ?? 32 * MEBI,
    idleTimeout: options.idleTimeout ?? Number.POSITIVE_INFINITY,
    poll: { first: poll.first ?? 1000, most: poll.most ?? 10_000 },
    clock: options.clock ?? createClock(),
    random: options.random ?? Math.random,
  };
}
