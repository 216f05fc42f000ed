import type { IncomingNotification, WebhookOptions, WebhookResult } from "./contract.ts";
import { checkOptions, verifierWith } from "./create-webhook-verifier.ts";
import { createIssuerKeys, type KeyCache, PLATFORM_FETCH } from "./issuer-keys.ts";
import { createMemoryReplays } from "./memory-replays.ts";

// Of the whole process: options are often written out in the call, and what they have seen must not be gone with them.
const REPLAYS = createMemoryReplays();
const KEYS = new WeakMap<typeof fetch, KeyCache>();

/**
 * Checks a notification that has come to a webhook of one's own. As {@link createWebhookVerifier}, for who has no place to keep a verifier: keys
 * and what has been seen are remembered by the process, unless `replays` says otherwise.
 */
export async function verifyWebhook(incoming: IncomingNotification, options: WebhookOptions): Promise<WebhookResult> {
  checkOptions(options);
  const { fetch = PLATFORM_FETCH, replays = REPLAYS } = options;
  const cache = KEYS.get(fetch) ?? new Map();
  KEYS.set(fetch, cache);
  return verifierWith(options, { findIssuer: createIssuerKeys(options, cache), replays })(incoming);
}
