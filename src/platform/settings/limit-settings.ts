import { DEFAULT_LIMITS, type Limits, limitsFrom } from "../../engine/limits.ts";
import { DEFAULT_MAX_STREAMS, type TransportLimits } from "../../transport/options.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { checkMaxHops } from "./server-id.ts";
import type { ServerOptions } from "./settings.ts";

/** The server's `limits`, checked and divided among the parts that enforce them. */
export interface LimitSettings {
  readonly engineLimits: Limits;
  readonly transportLimits: TransportLimits;
}

/** Throws a {@link StartupError} that names every invalid limit. */
export function limitSettingsFrom({ limits = {} }: Pick<ServerOptions, "limits">): LimitSettings {
  const { maxBodyBytes, maxPendingBodyBytes, maxPendingBodyBytesPerAddress, ...others } = limits;
  const { maxStreams, maxStreamsPerCaller, maxPageBytes, maxAnswerBytes, maxHops, ...rest } = others;
  const transportLimits: TransportLimits = {
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
    ...(maxPendingBodyBytes !== undefined && { maxPendingBodyBytes }),
    ...(maxPendingBodyBytesPerAddress !== undefined && { maxPendingBodyBytesPerAddress }),
    ...(maxStreams !== undefined && { maxStreams }),
    ...(maxStreamsPerCaller !== undefined && { maxStreamsPerCaller }),
    ...(maxPageBytes !== undefined && { maxPageBytes }),
    ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
  };
  try {
    for (const [name, value] of Object.entries<number>({ ...transportLimits })) requireLimit(name, value);
    const hops = maxHops === undefined ? {} : { maxHops: checkMaxHops(maxHops) };
    // Every stream is a subscription: with fewer subscriptions than streams, maxStreams could never be reached.
    const maxSubscribers =
      rest.maxSubscribers ?? Math.max(DEFAULT_LIMITS.maxSubscribers, maxStreams ?? DEFAULT_MAX_STREAMS);
    return {
      engineLimits: limitsFrom({ ...rest, maxSubscribers }),
      transportLimits: { ...transportLimits, ...hops },
    };
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

/** 0 is allowed here, unlike in the engine's limits. */
function requireLimit(name: string, value: number): void {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)) return;
  throw new TypeError(`limits: ${name} must be a whole number, or Infinity, not ${String(value)}.`);
}
