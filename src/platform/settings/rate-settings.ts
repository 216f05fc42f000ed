import type { RateLimit } from "../../transport/rate-limit/rate-limiter.ts";
import { type RateLimitOptions, RequestLimits } from "../../transport/rate-limit/request-limits.ts";
import { messageOf, StartupError } from "../startup-error.ts";

/** Seconds per unit. */
const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Parses a rate (requests per time). Throws a {@link StartupError} if it is invalid.
 * `600/60`, `600/60s` and `600/m` all become `{ requests: 600, seconds: 60 }`; `5000/1h` becomes `{ requests: 5000, seconds: 3600 }`.
 */
export function parseRate(text: string): RateLimit {
  const { requests, count, unit } =
    /^(?<requests>\d{1,9})\/(?<count>\d{0,9})(?<unit>[smhd]?)$/.exec(text)?.groups ?? {};
  const seconds = Number(count === "" ? 1 : count) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (requests === undefined || (count === "" && unit === "") || !Number.isFinite(seconds)) {
    throw new StartupError(
      "usage",
      `A rate must be requests per time, such as 600/60s, 100/m or 5000/h, not "${text}".`,
    );
  }
  return { requests: Number(requests), seconds };
}

/** Rate limits from the options, else from the environment. Throws a {@link StartupError} for invalid values. */
export function rateLimitFrom(
  option: RateLimitOptions | undefined,
  env: NodeJS.ProcessEnv,
): RateLimitOptions | undefined {
  const read = (name: string): RateLimit | undefined => {
    const value = env[name] || undefined;
    return value === undefined ? undefined : parseRate(value);
  };
  const principal = option?.principal ?? read("RATE_LIMIT");
  const address = option?.address ?? read("ADDRESS_RATE_LIMIT");
  if (principal === undefined && address === undefined) return undefined;
  const rateLimit = { principal, address };
  try {
    new RequestLimits(rateLimit);
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
  return rateLimit;
}
