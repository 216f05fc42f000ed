import { openSealed, type Sealer } from "../engine/record/seal.ts";
import type { KeptPushConfig, PushConfig, PushPolicy } from "../protocol/operation.ts";
import type { Scope } from "../protocol/principal.ts";
import type { WebhookDraft, WebhookRecord } from "../store/contract.ts";

/** Where and how to notify: the part of a webhook that is stored encrypted. */
export interface WebhookTarget extends Omit<PushConfig, "id"> {
  /** Of the dialect that registered the webhook; stored, because the dialect may no longer be supported when a delivery fails. */
  readonly afterFailure: PushPolicy["afterFailure"];
  /** Distinguishes the notifications of this configuration from those of another one with the same id. */
  readonly nonce: string;
}

/** Replaces secrets in answers: only the receiver gets the secret itself. */
export const MASK = "***";

/** Encrypts a target for one owner and webhook. */
export function sealTarget(sealer: Sealer, target: WebhookTarget, place: { scope: Scope; id: string }): string {
  return sealer.seal(JSON.stringify(target), contextOf(place.scope, place.id));
}

/** Decrypts a target; `undefined` if that fails, such as after the loss of the secret. */
export function openTarget(
  sealer: Sealer,
  webhook: Pick<WebhookDraft, "id" | "body">,
  scope: Scope,
): WebhookTarget | undefined {
  const text = openSealed(sealer, webhook.body, contextOf(scope, webhook.id));
  // Safe: only text that sealTarget encrypted can be decrypted.
  return text === undefined ? undefined : (JSON.parse(text) as WebhookTarget);
}

/** Both webhooks of one owner have the same id, dialect and target. */
export function isSameWebhook(sealer: Sealer, [a, b]: readonly [WebhookDraft, WebhookDraft], scope: Scope): boolean {
  if (a.id !== b.id || a.dialect !== b.dialect || a.unnamed !== b.unnamed) return false;
  const context = contextOf(scope, a.id);
  const target = openSealed(sealer, a.body, context);
  return target !== undefined && target === openSealed(sealer, b.body, context);
}

/** A stored configuration as its owner may read it, without secrets; `undefined` if it cannot be decrypted. */
export function keptConfig(sealer: Sealer, webhook: WebhookRecord, scope: Scope): KeptPushConfig | undefined {
  const target = openTarget(sealer, webhook, scope);
  return target === undefined ? undefined : shownConfig(webhook.id, target);
}

/** A configuration as its owner may read it, without secrets: `{ url, token: "s3cret" }` becomes `{ id, url, token: "***" }`. */
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

/** The origin by which deliveries are scheduled. All invalid URLs share the empty origin. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "";
}

/** A URL for logs and operators: without its query, which often holds a secret. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "" : `${parsed.origin}${parsed.pathname}`;
}

/** Binds the encrypted target to one owner and webhook: it cannot be decrypted for any other. */
function contextOf({ agent, tenant, owner }: Scope, id: string): string {
  return JSON.stringify(["webhook", agent, tenant, owner, id]);
}
