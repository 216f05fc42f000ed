import { A2AError } from "../../protocol/error.ts";
import type { Headers } from "../exchange.ts";
import type { Allowance } from "./rate-limiter.ts";

/**
 * The rate-limit headers, in both common forms. `X-RateLimit-Reset` is a time in seconds since 1970, `RateLimit-Reset` a number of seconds
 * from now. `now` is in milliseconds since 1970.
 */
export function rateLimitHeaders({ limit, remaining, resetMs }: Allowance, now: number): Headers {
  return {
    "x-ratelimit-limit": String(limit.requests),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.ceil((now + resetMs) / 1000)),
    "ratelimit-policy": `${limit.requests};w=${limit.seconds}`,
    "ratelimit-limit": String(limit.requests),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(Math.ceil(resetMs / 1000)),
  };
}

export function rateLimited({ limit, retryMs }: Allowance): A2AError {
  return new A2AError(
    "rate-limited",
    `More than ${limit.requests} requests in ${limit.seconds} s; try again after Retry-After`,
    {
      retryAfter: Math.max(1, Math.ceil(retryMs / 1000)),
      metadata: { limit: String(limit.requests), windowSeconds: String(limit.seconds) },
    },
  );
}
