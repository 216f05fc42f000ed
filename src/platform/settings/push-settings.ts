import type { OutgoingOptions } from "../../outgoing/contract.ts";
import { createOutgoing } from "../../outgoing/create-outgoing.ts";
import type { SchedulerLimits } from "../../push/origin-scheduler.ts";
import { DEFAULT_PUSH_SETTINGS, type PushSettings } from "../../push/push.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { listFrom } from "./list-from.ts";

/** How webhooks are notified. Durations are milliseconds. */
export interface PushServerOptions {
  /** How long one attempt may take. Default 15 000. */
  readonly timeout?: number | undefined;
  /** Retries after the first attempt. Then the notification becomes a dead letter. Default 3. */
  readonly retries?: number | undefined;
  /** Wait before the first retry. Each further wait is five times as long, varied at random. Default 1000. */
  readonly retryDelay?: number | undefined;
  /** How many webhooks one task may have. Default 32. */
  readonly maxWebhooksPerTask?: number | undefined;
  /** Concurrent deliveries in total. Default 64. */
  readonly concurrency?: number | undefined;
  /** Concurrent deliveries to one origin. Default 8. */
  readonly concurrencyPerOrigin?: number | undefined;
}

/** Webhook settings after validation, with defaults filled in. */
export interface CheckedPush {
  readonly settings: PushSettings;
  readonly concurrency: SchedulerLimits;
}

/** The server options that concern webhooks. */
export interface PushOptionsSource {
  readonly push?: false | PushServerOptions | undefined;
  readonly outgoing?: OutgoingOptions | undefined;
}

/** Validates webhook options. `undefined`: webhooks are not supported. Throws a {@link StartupError} for invalid values. */
export function pushSettingsFrom({ push }: PushOptionsSource): CheckedPush | undefined {
  if (push === false) return undefined;
  const { timeout, retries, retryDelay, maxWebhooksPerTask, concurrency, concurrencyPerOrigin } = push ?? {};
  const standard = DEFAULT_PUSH_SETTINGS;
  return {
    settings: {
      timeout: atLeast("push.timeout", timeout, { least: 1, standard: standard.timeout }),
      retries: atLeast("push.retries", retries, { least: 0, standard: standard.retries }),
      retryDelay: atLeast("push.retryDelay", retryDelay, { least: 0, standard: standard.retryDelay }),
      maxPerTask: atLeast("push.maxWebhooksPerTask", maxWebhooksPerTask, { least: 1, standard: standard.maxPerTask }),
    },
    concurrency: {
      total: atLeast("push.concurrency", concurrency, { least: 1, standard: 64 }),
      perOrigin: atLeast("push.concurrencyPerOrigin", concurrencyPerOrigin, { least: 1, standard: 8 }),
    },
  };
}

/** Where requests may go. Throws a {@link StartupError} for rules that cannot be understood. */
export function outgoingFrom({ outgoing = {} }: PushOptionsSource, env: NodeJS.ProcessEnv): OutgoingOptions {
  const options = {
    ...outgoing,
    http: outgoing.http ?? isSet(env["OUTGOING_HTTP"]),
    allow: outgoing.allow ?? listFrom(env["OUTGOING_ALLOW"]),
  };
  try {
    createOutgoing(options).close();
  } catch (error) {
    throw new StartupError("usage", `outgoing: ${messageOf(error)}`, { cause: error });
  }
  return options;
}

/** `1` or `true`, in either case. */
function isSet(value: string | undefined): boolean {
  return value === "1" || value?.toLowerCase() === "true";
}

function atLeast(
  name: string,
  value: number | undefined,
  { least, standard }: { readonly least: number; readonly standard: number },
): number {
  if (value === undefined) return standard;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new StartupError("usage", `${name} must be a whole number of at least ${least}, not ${String(value)}.`);
}
