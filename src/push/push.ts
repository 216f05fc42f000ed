import { createSealer } from "../engine/record/seal.ts";
import { A2AError } from "../protocol/error.ts";
import { type Outcome, type Store, StoreError, type WebhookOperation } from "../store/contract.ts";
import type { WebhookConfigService } from "./contract.ts";
import { DeadLetters } from "./dead-letters.ts";
import type { DeliverySettings } from "./delivery.ts";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { createWebhookConfigService } from "./webhook-config-service.ts";

export interface PushSettings extends DeliverySettings {
  /** Configurations one task may have. */
  readonly maxPerTask: number;
}

export const DEFAULT_PUSH_SETTINGS: PushSettings = {
  timeout: 15_000,
  retries: 3,
  retryDelay: 1000,
  maxPerTask: 32,
};

export interface PushOptions extends Omit<DispatcherOptions, "sealer" | "settings"> {
  /** Seals what webhooks are told by; 32 bytes. The same after a restart, or they cannot be told any more. */
  readonly secret: Uint8Array;
  readonly settings: PushSettings;
}

/** Push notifications together with their life. */
export interface Push extends Pick<Dispatcher, "start" | "drain" | "counts"> {
  readonly configs: WebhookConfigService;
  readonly deadLetters: Pick<DeadLetters, "list" | "redeliver">;
}

/** What callers wait for is not tried again for them: they are told so. */
async function commitAtOnce(
  store: Store,
  operation: WebhookOperation,
  onFatal: (error: unknown) => void,
): Promise<Outcome> {
  try {
    const [outcome] = await store.commit([operation]);
    if (outcome === undefined) throw new StoreError("unknown", "The store did not answer for every operation.");
    return outcome;
  } catch (cause) {
    const code = cause instanceof StoreError ? cause.code : "unknown";
    if (code === "unknown") onFatal(cause);
    throw new A2AError("unavailable", "It could not be stored; try again later.", { cause, retryAfter: 5 });
  }
}

/** Puts together who keeps configurations and who tells webhooks. */
export function createPush({ secret, ...options }: PushOptions): Push {
  const { store, clock, sender, settings } = options;
  const sealer = createSealer(secret);
  const dispatcher = new Dispatcher({ ...options, sealer });
  const commit = (operation: WebhookOperation): Promise<Outcome> => commitAtOnce(store, operation, options.onFatal);
  const watch = dispatcher.watch.bind(dispatcher);
  const configs = createWebhookConfigService({
    store,
    clock,
    sealer,
    maxPerTask: settings.maxPerTask,
    checkUrl: (url, field) => sender.check(url, field),
    commit,
    onSet: watch,
    onDelete: dispatcher.forget.bind(dispatcher),
  });
  return {
    configs,
    deadLetters: new DeadLetters({ store, clock, commit, onRevived: (task, id) => watch({ task, id }) }),
    start: () => dispatcher.start(),
    drain: (timeout) => dispatcher.drain(timeout),
    counts: () => dispatcher.counts(),
  };
}
