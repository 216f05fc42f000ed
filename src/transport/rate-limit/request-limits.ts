import type { Principal } from "../../protocol/principal.ts";
import { callerAddress } from "./caller-address.ts";
import { type Allowance, type RateLimit, RateLimiter } from "./rate-limiter.ts";

/** Rate limits. A request must be within both. */
export interface RateLimitOptions {
  /** Per authenticated caller; anonymous callers are distinguished by network address. */
  readonly principal?: RateLimit | undefined;
  /** Per network address, checked first: also counts requests with invalid credentials, and requests for cards. */
  readonly address?: RateLimit | undefined;
}

/** Counts requests. */
export class RequestLimits {
  readonly #principals: RateLimiter | undefined;
  readonly #addresses: RateLimiter | undefined;

  /** Throws a `TypeError` for an invalid limit. `now`: milliseconds of a monotonic clock. */
  constructor({ principal, address }: RateLimitOptions, now?: () => number) {
    const limiter = (limit: RateLimit | undefined): RateLimiter | undefined =>
      limit === undefined ? undefined : new RateLimiter({ limit, ...(now !== undefined && { now }) });
    this.#principals = limiter(principal);
    this.#addresses = limiter(address);
  }

  /** `undefined`: no limit per address. */
  ofAddress(remote: string | undefined): Allowance | undefined {
    return this.#addresses?.take(callerAddress(remote));
  }

  ofPrincipal(principal: Principal, remote: string | undefined): Allowance | undefined {
    return this.#principals?.take(callerKey(principal, remote));
  }
}

/** Identifies a caller for limits. Anonymous callers count by address, so that one of them cannot use up the limit of all. */
export function callerKey({ id, anonymous }: Principal, remote: string | undefined): string {
  return anonymous ? `address ${callerAddress(remote)}` : `principal ${id}`;
}
