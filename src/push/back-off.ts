export interface RetrySettings {
  /** How often it is tried again after the first try. */
  readonly retries: number;
  /** Milliseconds before the second try; each further one waits five times as long. */
  readonly retryDelay: number;
}

const FACTOR = 5;
/** No wait is longer, in ms. */
export const LONGEST_WAIT: number = 10 * 60_000;

/**
 * Milliseconds to wait after so many tries in vain: never less than is set, never quite the same for two webhooks, and as long as the other
 * side asks for, within bounds. As they are set, all waits together outlast the 30 s after which common verifiers look for a new key.
 */
export function waitAfter(
  { retryDelay }: RetrySettings,
  attempts: number,
  { random, askedFor = 0 }: { readonly random: () => number; readonly askedFor?: number | undefined },
): number {
  const delay = Math.min(retryDelay * FACTOR ** (attempts - 1), LONGEST_WAIT) * (1 + random() / 2);
  return Math.round(Math.max(delay, Math.min(askedFor, LONGEST_WAIT)));
}

/** Milliseconds that a `Retry-After` asks for: seconds, or a date. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
