import { pause } from "./abort.ts";
import { RemoteError } from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

type BackOffSettings = Pick<ClientSettings, "retry" | "random" | "clock">;

/** Milliseconds to wait after this many failures in a row: doubles each time, up to `maxDelay`, minus a random part of up to 50 %. */
export function backOff({ retry, random }: Pick<BackOffSettings, "retry" | "random">, failures: number): number {
  const delay = Math.min(retry.baseDelay * 2 ** (failures - 1), retry.maxDelay);
  return delay * (0.5 + random() / 2);
}

/** HTTP statuses that mean: the server did not process the request. 408: it did not arrive in time. */
const NOT_TAKEN: ReadonlySet<number | undefined> = new Set([408, 429, 503]);
/** The proxy answered, and the agent may have processed the request. */
const GATEWAY: ReadonlySet<number | undefined> = new Set([502, 504]);

/** Whether repeating the request may succeed and does nothing twice. `safe`: the request is read-only or idempotent. */
export function mayRepeat(error: RemoteError, safe: boolean): boolean {
  const { httpStatus } = error.remote;
  if (wasNotTaken(error)) return true;
  if (error.code === "network") return safe;
  if (!safe) return false;
  return GATEWAY.has(httpStatus) || error.code === "rate-limited" || error.code === "unavailable";
}

/** Error codes of Node, undici and Bun for a failed connection: nothing was sent. With other codes that is unknown. */
const CONNECT_FAILURES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
  // The server's certificate is invalid: the request is sent only after the TLS handshake.
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Whether the request was certainly not processed. */
export function wasNotTaken(error: RemoteError): boolean {
  const { httpStatus, grpcStatus } = error.remote;
  // Over gRPC both come instead of the answer, before any work.
  if (grpcStatus !== undefined) return error.code === "unavailable" || error.code === "rate-limited";
  return NOT_TAKEN.has(httpStatus) || (error.code === "network" && neverSent(error));
}

/** Whether the request was certainly not sent. */
export function neverSent(error: RemoteError): boolean {
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if ("code" in cause && CONNECT_FAILURES.has(cause.code)) return true;
    // A name may have several addresses; the connection to each of them failed.
    if (cause instanceof AggregateError) {
      const errors: readonly unknown[] = cause.errors;
      return errors.every((each) => each instanceof Error && "code" in each && CONNECT_FAILURES.has(each.code));
    }
    cause = cause.cause;
  }
  return false;
}

/** When a request may be repeated. */
export interface RepeatOptions {
  /** Called after each failure: the answer may depend on the interface that was used. */
  readonly isSafe: () => boolean;
  readonly signal: AbortSignal;
}

/** Runs `attempt` until it succeeds, fails permanently, or `retry.attempts` is reached. */
export async function repeating<T>(
  settings: BackOffSettings,
  options: RepeatOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof RemoteError) || options.signal.aborted) throw thrown;
      if (failures >= settings.retry.attempts || !mayRepeat(thrown, options.isSafe())) throw thrown;
      const delay = delayAfter(settings, thrown, failures);
      if (delay === undefined) throw thrown;
      await pause(settings.clock, delay, options.signal);
    }
  }
}

/** Whether the server asks (`Retry-After`) for a longer wait than `maxDelay`. */
export function exceedsMaxDelay({ maxDelay }: BackOffSettings["retry"], { remote }: RemoteError): boolean {
  return (remote.retryAfter ?? 0) * 1000 > maxDelay;
}

/**
 * Milliseconds to wait after an error: the back-off, or longer if the server asks for it (`Retry-After`). `undefined` if the server asks for more
 * than `maxDelay`.
 */
export function delayAfter(settings: BackOffSettings, error: RemoteError, failures: number): number | undefined {
  if (exceedsMaxDelay(settings.retry, error)) return undefined;
  return Math.max((error.remote.retryAfter ?? 0) * 1000, backOff(settings, failures));
}
