import { openSealed, type Sealer } from "../engine/record/seal.ts";
import type { KeptPushConfig, PushConfig, PushPolicy } from "../protocol/operation.ts";
import type { Scope } from "../protocol/principal.ts";
import type { WebhookDraft, WebhookRecord } from "../store/contract.ts";

/** Where and how to tell, as it is sealed into a webhook's body. */
export interface WebhookTarget extends Omit<PushConfig, "id"> {
  readonly afterFailure: PushPolicy["afterFailure"];
  /** Tells what is told of it from what is told of another of the same id. */
  readonly nonce: string;
}

/** What stands in answers for what only the webhook itself may know. */
export const MASK = "***";

export function sealTarget(sealer: Sealer, target: WebhookTarget, place: { scope: Scope; id: string }): string {
  return sealer.seal(JSON.stringify(target), contextOf(place.scope, place.id));
}

/** `undefined` where it cannot be opened, as after the loss of the secret. */
export function openTarget(
  sealer: Sealer,
  webhook: Pick<WebhookDraft, "id" | "body">,
  scope: Scope,
): WebhookTarget | undefined {
  const text = openSealed(sealer, webhook.body, contextOf(scope, webhook.id));
  // Safe: only what was sealed here opens.
  return text === undefined ? undefined : (JSON.parse(text) as WebhookTarget);
}

/** The configuration as its caller may read it. */
export function keptConfig(sealer: Sealer, webhook: WebhookRecord, scope: Scope): KeptPushConfig | undefined {
  const target = openTarget(sealer, webhook, scope);
  return target === undefined ? undefined : shownConfig(webhook.id, target);
}

/** The same of one that was set just now. */
export function shownConfig(id: string, { url, token, authentication, headers, events }: PushConfig): KeptPushConfig {
  return {
    id,
    url,
    ...(token !== undefined && { token: MASK }),
    ...(authentication !== undefined && {
      authentication: {
        schemes: authentication.schemes,
        ...(authentication.credentials !== undefined && { credentials: MASK }),
      },
    }),
    ...(headers !== undefined && {
      headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])),
    }),
    ...(events !== undefined && { events }),
  };
}

/** Those of one origin are told through one originQueue; what is no URL has one of its own. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "";
}

/** A URL as people and logs may see it: a query often holds a secret. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "" : `${parsed.origin}${parsed.pathname}`;
}

/** What is sealed for one owner's webhook opens for no other's. */
function contextOf({ agent, tenant, owner }: Scope, id: string): string {
  return JSON.stringify(["webhook", agent, tenant, owner, id]);
}
