import { type Clock, createClock } from "../../internal/clock.ts";
import type { Authorize, Guard, HttpOptions } from "./contract.ts";
import { guardOf } from "./url-guard.ts";

/** How long to wait between tries, and how often to try. */
export interface RetryOptions {
  /** Tries of one call in all, the first included; 1: never again. Default 5. */
  readonly attempts?: number;
  /** Connections in a row that may bring a stream nothing new before it is given up for lost. Default 10. */
  readonly reconnects?: number;
  /** Milliseconds before the second try, about; each further wait is twice as long. Default 500. */
  readonly baseDelay?: number;
  /** Milliseconds a wait lasts at most; who is told to wait longer gives up. Default 30 000. */
  readonly maxDelay?: number;
}

/** How a remote agent is called. */
export interface ClientOptions extends HttpOptions {
  readonly authorize?: Authorize;
  /** URIs of extensions to ask for in every call. */
  readonly extensions?: readonly string[];
  /** Milliseconds for calls that need not wait for the agent's work. Default 30 000. */
  readonly timeout?: number;
  readonly retry?: RetryOptions;
  /**
   * Whether a message may be sent again, by the same id, when the connection broke before anything came back. Default: where the
   * agent's card declares that it recognises repeated messages. Elsewhere the work might be done twice.
   */
  readonly resend?: boolean;
  /** Bytes an answer may have. Default 32 MiB. */
  readonly maxResponseBytes?: number;
  /** Characters one event of a stream may have. Default 8 Mi. */
  readonly maxEventLength?: number;
  /**
   * Bytes of artifacts that one stream keeps for `task` and `result()`, about: 2 for each character and 160 for each part. A stream with
   * more goes on but drops what it kept: its `task` and `result()` then fail with `result-too-large`. Default 32 MiB.
   */
  readonly maxResultBytes?: number;
  /** Milliseconds a stream may be silent, signs of life included, before it is taken for broken. Default: as long as it likes. */
  readonly idleTimeout?: number;
  /** Milliseconds between looks at a task that cannot be followed: at first, and at most. Default 1 000 and 10 000. */
  readonly poll?: { readonly first?: number; readonly most?: number };
  /** For tests. */
  readonly clock?: Clock;
  /** For tests: from 0 to 1. */
  readonly random?: () => number;
}

export interface ClientSettings {
  readonly fetch: typeof fetch;
  readonly guard: Guard | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorize: Authorize | undefined;
  readonly extensions: readonly string[];
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

export function clientSettings(options: ClientOptions = {}): ClientSettings {
  const { retry = {}, poll = {} } = options;
  return {
    // Called without a receiver, as browsers insist.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    guard: guardOf(options.guard),
    headers: options.headers ?? {},
    authorize: options.authorize,
    extensions: options.extensions ?? [],
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
