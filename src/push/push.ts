import { createSealer } from "../engine/record/seal.ts";
import { A2AError } from "../protocol/error.ts";
import { type Outcome, type Store, StoreError, type WebhookOperation } from "../store/contract.ts";
import type { WebhookConfigService, WebhookOverview } from "./contract.ts";
import { DeadLetters } from "./dead-letters.ts";
import type { DeliverySettings } from "./delivery.ts";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { createWebhookConfigService } from "./webhook-config-service.ts";
import { createWebhookView } from "./webhook-view.ts";

/** What operators can set. */
export interface PushSettings extends DeliverySettings {
  /** The most webhooks of one task. */
  readonly maxPerTask: number;
}

/** A2A 1.0 §13.2 recommends a timeout of 10 to 30 s and retries with back-off. */
export const DEFAULT_PUSH_SETTINGS: PushSettings = {
  timeout: 15_000,
  retries: 3,
  retryDelay: 1000,
  maxPerTask: 32,
};

export interface PushOptions extends Omit<DispatcherOptions, "sealer" | "settings"> {
  /** Encrypts the stored webhook configurations; 32 bytes. If it changes, stored webhooks can no longer be notified. */
  readonly secret: Uint8Array;
  readonly settings: PushSettings;
}

/** Push notifications: their configurations, their deliveries, and how to start and stop them. */
export interface Push extends Pick<Dispatcher, "start" | "drain" | "counts"> {
  readonly configs: WebhookConfigService;
  readonly deadLetters: Pick<DeadLetters, "list" | "redeliver">;
  readonly view: WebhookOverview;
}

/** Commits without retries: the waiting caller gets `unavailable` and may retry itself. */
async function commitOnce(
  store: Store,
  operation: WebhookOperation,
  onFatal: (error: unknown) => void,
): Promise<Outcome> {
  try {
    const [outcome] = await store.commit([operation]);
    if (outcome === undefined) throw new StoreError("unknown", "The store returned fewer outcomes than operations.");
    return outcome;
  } catch (cause) {
    const code = cause instanceof StoreError ? cause.code : "unknown";
    if (code === "unknown") onFatal(cause);
    throw new A2AError("unavailable", "The webhook could not be stored; try again in 5 s.", { cause, retryAfter: 5 });
  }
}

/** Connects the webhook config service, the dispatcher and the dead letters. */
export function createPush({ secret, ...options }: PushOptions): Push {
  const { store, clock, sender, settings } = options;
  const sealer = createSealer(secret);
  const dispatcher = new Dispatcher({ ...options, sealer });
  const commit = (operation: WebhookOperation): Promise<Outcome> => commitOnce(store, operation, options.onFatal);
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
    view: createWebhookView({ store, sealer, claimed: () => dispatcher.claimed() }),
    start: () => dispatcher.start(),
    drain: (timeout) => dispatcher.drain(timeout),
    counts: () => dispatcher.counts(),
  };
}
