/** `requests` per `seconds`, as a token bucket: after `seconds` without requests, all may come at once. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The result of counting one request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: RateLimit;
  /** Further requests allowed now. */
  readonly remaining: number;
  /** This request is refused, and the one before it was not. */
  readonly isFirstRefusal: boolean;
  /** Milliseconds until the whole limit is free again. */
  readonly resetMs: number;
  /** Milliseconds until the next request is allowed; 0 if one is allowed now. */
  readonly retryMs: number;
}

export interface RateLimiterOptions {
  readonly limit: RateLimit;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** The most callers remembered; the least recent ones are forgotten first. Default 100,000. */
  readonly maxCallers?: number;
}

interface Bucket {
  /** The used part of the bucket. One request uses `window` units, and `requests` units return per millisecond. */
  used: number;
  at: number;
  /** The last request was refused. */
  refuses: boolean;
}

/**
 * A token bucket per caller. Counts in whole numbers, so that exactly the allowed number of requests pass. Refused requests use no tokens:
 * the caller may continue as soon as the limit allows.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #maxCallers: number;
  readonly #window: number;
  readonly #capacity: number;
  readonly #buckets = new Map<string, Bucket>();

  /** Throws a `TypeError` for an invalid limit. */
  constructor({ limit, now = () => performance.now(), maxCallers = 100_000 }: RateLimiterOptions) {
    requireSense(limit);
    this.#limit = limit;
    this.#now = now;
    this.#maxCallers = maxCallers;
    this.#window = limit.seconds * 1000;
    this.#capacity = limit.requests * this.#window;
  }

  /** Counts one request of this caller if it is allowed. */
  take(caller: string): Allowance {
    const now = Math.floor(this.#now());
    const bucket = this.#bucketOf(caller, now);
    // A clock that goes back returns no tokens.
    bucket.used = Math.max(0, bucket.used - Math.max(0, now - bucket.at) * this.#limit.requests);
    bucket.at = now;
    const allowed = bucket.used + this.#window <= this.#capacity;
    if (allowed) bucket.used += this.#window;
    const isFirstRefusal = !allowed && !bucket.refuses;
    bucket.refuses = !allowed;
    const free = this.#capacity - bucket.used;
    return {
      allowed,
      limit: this.#limit,
      isFirstRefusal,
      remaining: Math.floor(free / this.#window),
      resetMs: Math.ceil(bucket.used / this.#limit.requests),
      retryMs: Math.max(0, Math.ceil((this.#window - free) / this.#limit.requests)),
    };
  }

  #bucketOf(caller: string, now: number): Bucket {
    const known = this.#buckets.get(caller);
    // Move the caller to the end: the first entry is the least recent.
    if (known !== undefined) this.#buckets.delete(caller);
    else if (this.#buckets.size >= this.#maxCallers) this.#forgetOldest();
    const bucket = known ?? { used: 0, at: now, refuses: false };
    this.#buckets.set(caller, bucket);
    return bucket;
  }

  #forgetOldest(): void {
    for (const caller of this.#buckets.keys()) {
      this.#buckets.delete(caller);
      return;
    }
  }
}

const MAX_REQUESTS = 1_000_000;
const MAX_SECONDS = 86_400;

function requireSense({ requests, seconds }: RateLimit): void {
  const fits = (value: number, most: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= most;
  if (!fits(requests, MAX_REQUESTS)) {
    throw new TypeError(`A rate limit must have 1 to ${MAX_REQUESTS} requests, not ${String(requests)}.`);
  }
  if (!fits(seconds, MAX_SECONDS)) {
    throw new TypeError(`A rate limit must have 1 to ${MAX_SECONDS} whole seconds, not ${String(seconds)}.`);
  }
}
