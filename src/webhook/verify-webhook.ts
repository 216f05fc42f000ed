import type { IncomingNotification, WebhookOptions, WebhookResult } from "./contract.ts";
import { checkOptions, verifierWith } from "./create-webhook-verifier.ts";
import { createIssuerKeys, type KeyCache, PLATFORM_FETCH } from "./issuer-keys.ts";
import { createMemoryReplays } from "./memory-replays.ts";

// Shared by the process: options are often written inline, and replay detection must survive from one call to the next.
const REPLAYS = createMemoryReplays();
const KEYS = new WeakMap<typeof fetch, KeyCache>();

/**
 * Verifies a notification that your webhook received. Like {@link createWebhookVerifier}, for code that has no place to keep a verifier: the
 * process remembers keys and, unless you pass `replays`, the ids of received notifications.
 */
export async function verifyWebhook(incoming: IncomingNotification, options: WebhookOptions): Promise<WebhookResult> {
  checkOptions(options);
  const { fetch = PLATFORM_FETCH, replays = REPLAYS } = options;
  const cache = KEYS.get(fetch) ?? new Map();
  KEYS.set(fetch, cache);
  return verifierWith(options, { findIssuer: createIssuerKeys(options, cache), replays })(incoming);
}
