import type { Principal } from "../../protocol/principal.ts";
import { callerAddress } from "./caller-address.ts";
import { type Allowance, type RateLimit, RateLimiter } from "./rate-limiter.ts";

/** How often callers may call. Both limits hold at once. */
export interface RateLimitOptions {
  /** For each caller that has said who it is; the others are told apart by their network address. */
  readonly principal?: RateLimit | undefined;
  /** For each network address, before anything else is looked at: also for credentials that do not hold, and for cards. */
  readonly address?: RateLimit | undefined;
}

/** Counts requests. */
export class RequestLimits {
  readonly #principals: RateLimiter | undefined;
  readonly #addresses: RateLimiter | undefined;

  /** Throws a `TypeError` for a limit that makes no sense. `now` is in milliseconds, by a clock that nobody sets. */
  constructor({ principal, address }: RateLimitOptions, now?: () => number) {
    const limiter = (limit: RateLimit | undefined): RateLimiter | undefined =>
      limit === undefined ? undefined : new RateLimiter({ limit, ...(now !== undefined && { now }) });
    this.#principals = limiter(principal);
    this.#addresses = limiter(address);
  }

  /** `undefined`: there is no such limit. */
  ofAddress(remote: string | undefined): Allowance | undefined {
    return this.#addresses?.take(callerAddress(remote));
  }

  ofPrincipal(principal: Principal, remote: string | undefined): Allowance | undefined {
    return this.#principals?.take(callerKey(principal, remote));
  }
}

/** Who counts as one caller: those whom nobody knows by their address, else one of them could use up what all of them have. */
export function callerKey({ id, anonymous }: Principal, remote: string | undefined): string {
  return anonymous ? `address ${callerAddress(remote)}` : `principal ${id}`;
}
