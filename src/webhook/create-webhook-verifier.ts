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

/** Checks one notification. Rejects only where its body cannot be read to the end, or a function of the options' fails. */
export type WebhookVerifier = (incoming: IncomingNotification) => Promise<WebhookResult>;

const MAX_BYTES = 10_000_000;
const SIGNATURE_HEADER = "x-a2a-notification-signature";
const TOKEN_HEADER = "x-a2a-notification-token";

/** What stays from one notification to the next. */
export interface WebhookMemory {
  readonly findIssuer: FindIssuer;
  readonly replays: ReplayStore;
}

/**
 * Makes what checks notifications that agents send to a webhook of one's own: that they come from whom they say, are meant for this
 * webhook, are fresh and unchanged. Throws a `TypeError` for options under which anything would be accepted.
 */
export function createWebhookVerifier(options: WebhookOptions): WebhookVerifier {
  checkOptions(options);
  return verifierWith(options, memoryFor(options));
}

export function memoryFor(options: WebhookOptions): WebhookMemory {
  return {
    findIssuer: createIssuerKeys(options),
    replays: options.replays ?? createMemoryReplays(undefined, options.now),
  };
}

export function checkOptions({ issuers, token, audience }: WebhookOptions): void {
  if (issuers === undefined && token === undefined) {
    throw new TypeError("Say whose notifications to believe: issuers, or a token.");
  }
  if (Array.isArray(issuers) && issuers.length === 0) throw new TypeError("issuers: there must be at least one.");
  if (issuers !== undefined && audience === undefined) {
    throw new TypeError(
      "audience: say under which URL this webhook was registered, or what was sent to others would count here.",
    );
  }
  if (token === "") throw new TypeError("token: must not be empty.");
}

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

async function checkToken(
  headers: Headers,
  expected: NonNullable<WebhookOptions["token"]>,
  taskId: string | undefined,
): Promise<RejectionReason | undefined> {
  const shown = headers.get(TOKEN_HEADER) ?? "";
  if (shown === "") return "no-token";
  const token = typeof expected === "string" ? expected : await expected(taskId);
  // No token of ours is empty, so that this is never the same.
  return (await isSameSecret(shown, token ?? "")) ? undefined : "wrong-token";
}

/** Some send the signature as a bearer token. Other bearer tokens are none of ours. */
function bearerJwt(authorization: string | null): string | undefined {
  return /^bearer +(?<jwt>[\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization ?? "")?.groups?.["jwt"];
}

/** Written alike, or the same to whoever calls it. */
function isOneOf(urls: readonly string[]): (url: string) => boolean {
  const own = new Set(urls.flatMap((url) => [url, URL.parse(url)?.href ?? url]));
  return (url) => own.has(url) || own.has(URL.parse(url)?.href ?? url);
}

/** Ids of different issuers may be the same. */
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
