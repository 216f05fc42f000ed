import { isSameSecret } from "../auth/body-digest.ts";
import { claimedIssuer, type NotificationClaims, verifyNotification } from "../auth/verify-notification.ts";
import {
  type IncomingNotification,
  REASONS,
  type RejectionReason,
  type ReplayStore,
  type WebhookOptions,
  type WebhookResult,
} from "./contract.ts";
import { createIssuerKeys, type FindIssuer } from "./issuer-keys.ts";
import { createMemoryReplays } from "./memory-replays.ts";
import { parseNotification } from "./parse-notification.ts";
import { readBody } from "./read-body.ts";

/** Verifies one notification. Rejects only if its body cannot be read, or a function in the options fails. */
export type WebhookVerifier = (incoming: IncomingNotification) => Promise<WebhookResult>;

/** The default of `maxBytes`. */
const MAX_BYTES = 10_000_000;
/** Palaver's own header: A2A defines no header for signatures of notifications. */
const SIGNATURE_HEADER = "x-a2a-notification-signature";
/** The header of `PushNotificationConfig.token` in the examples of A2A 0.1 §9.4 and 0.3 §9.5. */
const TOKEN_HEADER = "x-a2a-notification-token";

/** State that is kept between notifications. */
export interface WebhookMemory {
  readonly findIssuer: FindIssuer;
  readonly replays: ReplayStore;
}

/**
 * Creates a function that verifies the notifications that agents send to your webhook: their sender, their audience, their age and their
 * integrity. Throws a `TypeError` for options that would accept any notification.
 */
export function createWebhookVerifier(options: WebhookOptions): WebhookVerifier {
  checkOptions(options);
  return verifierWith(options, memoryFor(options));
}

/** The state for one verifier. `verifyWebhook` uses one for the whole process instead. */
export function memoryFor(options: WebhookOptions): WebhookMemory {
  return {
    findIssuer: createIssuerKeys(options),
    replays: options.replays ?? createMemoryReplays(undefined, options.now),
  };
}

/** Throws a `TypeError` for options that would accept any notification, or those for other webhooks. */
export function checkOptions({ issuers, token, audience }: WebhookOptions): void {
  if (issuers === undefined && token === undefined) {
    throw new TypeError("Set issuers or token: without either, any notification would be accepted.");
  }
  if (Array.isArray(issuers) && issuers.length === 0) throw new TypeError("issuers: must not be empty.");
  if (issuers !== undefined && audience === undefined) {
    throw new TypeError(
      "audience: set the URL under which this webhook is registered, or notifications to other webhooks would be accepted.",
    );
  }
  if (token === "") throw new TypeError("token: must not be empty.");
}

/**
 * Checks the cheapest things first: method and size, then the signature, then the token, then the body, and repeats last, because only a
 * valid notification may be remembered.
 */
export function verifierWith(options: WebhookOptions, memory: WebhookMemory): WebhookVerifier {
  const { issuers, token, repeats = "report", maxBytes = MAX_BYTES } = options;
  return async (incoming) => {
    if (incoming.method.toUpperCase() !== "POST") return rejected("not-a-post");
    const headers = headersOf(incoming);
    const body = await readBody(incoming, maxBytes);
    if (body === undefined) return rejected("too-large");
    const signed =
      issuers === undefined ? undefined : await checkSignature({ headers, body }, options, memory.findIssuer);
    if (typeof signed === "string") return rejected(signed);
    const notification = parseNotification(body);
    const taskId = signed?.taskId ?? notification?.taskId;
    const problem = token === undefined ? undefined : await checkToken(headers, token, taskId);
    if (problem !== undefined) return rejected(problem);
    if (notification === undefined) return rejected("not-a-notification");
    if (signed !== undefined && notification.taskId !== undefined && notification.taskId !== signed.taskId) {
      return rejected("wrong-task");
    }
    const repeated = signed !== undefined && (await memory.replays.remember(idOf(signed), signed.until));
    if (repeated && repeats === "refuse") return rejected("repeated");
    return { ok: true, taskId, jti: signed?.jti, issuer: signed?.issuer, repeated, notification };
  };
}

/** The claims of a valid signature, else the reason of the refusal. */
async function checkSignature(
  { headers, body }: { readonly headers: Headers; readonly body: Uint8Array },
  options: WebhookOptions,
  findIssuer: FindIssuer,
): Promise<NotificationClaims | RejectionReason> {
  const { audience = [], now = Date.now, maxAge = 300_000, clockSkew = 60_000 } = options;
  const token = headers.get(SIGNATURE_HEADER) ?? bearerJwt(headers.get("authorization"));
  if (token === undefined) return "no-signature";
  const issuer = claimedIssuer(token);
  if (issuer === undefined) return "bad-signature";
  const findKey = await findIssuer(issuer);
  if (findKey === undefined) return "unknown-issuer";
  const isAudience =
    typeof audience === "function" ? audience : isOneOf(typeof audience === "string" ? [audience] : audience);
  const result = await verifyNotification(token, { issuer, findKey, isAudience, body, now: now(), maxAge, clockSkew });
  return "claims" in result ? result.claims : result.problem;
}

/**
 * `undefined` if the token is right. A function finds the token by the task, so the task id of a signed notification is used if there is
 * one.
 */
async function checkToken(
  headers: Headers,
  expected: NonNullable<WebhookOptions["token"]>,
  taskId: string | undefined,
): Promise<RejectionReason | undefined> {
  const shown = headers.get(TOKEN_HEADER) ?? "";
  if (shown === "") return "no-token";
  const token = typeof expected === "string" ? expected : await expected(taskId);
  // A token is never empty, so the empty text never matches.
  return (await isSameSecret(shown, token ?? "")) ? undefined : "wrong-token";
}

/** Some servers send the signature as a bearer token. Bearer tokens that are not signatures are ignored. */
function bearerJwt(authorization: string | null): string | undefined {
  return /^bearer +(?<jwt>[\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization ?? "")?.groups?.["jwt"];
}

/** True if two URLs are equal as text or after normalization. */
function isOneOf(urls: readonly string[]): (url: string) => boolean {
  const own = new Set(urls.flatMap((url) => [url, URL.parse(url)?.href ?? url]));
  return (url) => own.has(url) || own.has(URL.parse(url)?.href ?? url);
}

/** Includes the issuer: ids are unique only within one issuer. */
function idOf({ issuer, jti }: NotificationClaims): string {
  return `${issuer} ${jti}`;
}

function headersOf({ headers }: IncomingNotification): Headers {
  if (headers instanceof Headers) return headers;
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) all.append(name, one);
  }
  return all;
}

function rejected(reason: RejectionReason): WebhookResult {
  return { ok: false, reason, status: REASONS[reason] };
}
