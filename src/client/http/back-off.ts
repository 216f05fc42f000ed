import { pause } from "./abort.ts";
import { RemoteError } from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

type BackOffSettings = Pick<ClientSettings, "retry" | "random" | "clock">;

/** Milliseconds to wait after so many failures in a row: twice as long each time, and never quite the same for two callers. */
export function backOff({ retry, random }: Pick<BackOffSettings, "retry" | "random">, failures: number): number {
  const delay = Math.min(retry.baseDelay * 2 ** (failures - 1), retry.maxDelay);
  return delay * (0.5 + random() / 2);
}

/** HTTP statuses by which a server says that it did not take the request up. */
const NOT_TAKEN: ReadonlySet<number | undefined> = new Set([429, 503]);
const GATEWAY: ReadonlySet<number | undefined> = new Set([502, 504]);

/** Whether the same request may succeed later without doing anything twice. `safe`: it changes nothing, or nothing by being repeated. */
export function mayRepeat(error: RemoteError, safe: boolean): boolean {
  const { httpStatus } = error.remote;
  if (wasNotTaken(error)) return true;
  if (error.code === "network") return safe;
  if (!safe) return false;
  return GATEWAY.has(httpStatus) || error.code === "rate-limited" || error.code === "unavailable";
}

/** What failures to connect are called by the programs this runs in. Elsewhere it is not known whether anything was sent. */
const CONNECT_FAILURES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
  // The server is not who it should be: what is to be said is said only to one who has shown a certificate that holds.
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

/** Whether the request was certainly not taken up by anybody. */
export function wasNotTaken(error: RemoteError): boolean {
  return NOT_TAKEN.has(error.remote.httpStatus) || (error.code === "network" && neverSent(error));
}

/** Whether the request certainly did not reach anybody. */
export function neverSent(error: RemoteError): boolean {
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if ("code" in cause && CONNECT_FAILURES.has(cause.code)) return true;
    // A name may have several addresses, which all refused.
    if (cause instanceof AggregateError) {
      const errors: readonly unknown[] = cause.errors;
      return errors.every((each) => each instanceof Error && "code" in each && CONNECT_FAILURES.has(each.code));
    }
    cause = cause.cause;
  }
  return false;
}

export interface RepeatOptions {
  /** Asked after each failure: it may depend on which way the call went. */
  readonly isSafe: () => boolean;
  readonly signal: AbortSignal;
}

/** Tries until it succeeds, fails for good, or has been tried often enough. */
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
