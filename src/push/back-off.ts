/** When failed deliveries are repeated. */
export interface RetrySettings {
  /** Retries after the first attempt. */
  readonly retries: number;
  /** Milliseconds before the first retry. Each further retry waits five times as long, at most 10 minutes. */
  readonly retryDelay: number;
}

/** 1 s, 5 s, 25 s with the default settings. */
const FACTOR = 5;
/** The longest pause between two attempts, in milliseconds. */
export const LONGEST_WAIT: number = 10 * 60_000;

/**
 * Milliseconds to wait after this many failed attempts: exponential back-off with up to 50 % jitter, or the receiver's `Retry-After` if that
 * is longer, at most {@link LONGEST_WAIT}. With the default settings all waits add up to more than the 30 s after which common verifiers
 * fetch new signing keys.
 */
export function waitAfter(
  { retryDelay }: RetrySettings,
  attempts: number,
  { random, askedFor = 0 }: { readonly random: () => number; readonly askedFor?: number | undefined },
): number {
  const delay = Math.min(retryDelay * FACTOR ** (attempts - 1), LONGEST_WAIT) * (1 + random() / 2);
  return Math.round(Math.max(delay, Math.min(askedFor, LONGEST_WAIT)));
}

/** The milliseconds in a `Retry-After` header, which holds seconds or a date (RFC 9110 §10.2.3); `undefined` if absent or invalid. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
