import { traceparentOf } from "../protocol/traceparent.ts";
import type { PushCodec } from "../wire/codec.ts";
import type { Notification } from "./pending-events.ts";
import type { WebhookTarget } from "./webhook-target.ts";

export const TOKEN_HEADER = "x-a2a-notification-token";
export const SIGNATURE_HEADER = "x-a2a-notification-signature";

export interface RequestParts {
  readonly target: WebhookTarget;
  readonly codec: PushCodec;
  readonly notification: Notification;
  /** The JWT that proves who sent the notification. `undefined`: this server does not sign. */
  readonly signature: string | undefined;
}

/** The headers of one notification, with names in lower case. The server's own headers replace headers of the same name that the caller set. */
export function requestHeaders({ target, codec, notification, signature }: RequestParts): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(target.headers ?? {})) headers[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(codec.headers)) headers[name.toLowerCase()] = value;
  const authorization = authorizationOf({ target, codec, signature });
  if (authorization !== undefined) headers["authorization"] ??= authorization;
  if (target.token !== undefined) headers[TOKEN_HEADER] = target.token;
  if (signature !== undefined) headers[SIGNATURE_HEADER] = signature;
  const { trace } = notification;
  if (trace !== undefined) headers["traceparent"] = traceparentOf(trace);
  headers["content-type"] = codec.mediaType;
  return headers;
}

function authorizationOf({ target, codec, signature }: Omit<RequestParts, "notification">): string | undefined {
  const { authentication, token } = target;
  const schemes = authentication?.schemes ?? [];
  const credentials = authentication?.credentials;
  const [scheme] = schemes;
  if (scheme !== undefined && credentials !== undefined) return `${scheme} ${credentials}`;
  // Without credentials, Bearer is the only scheme for which the server has a value: its signature.
  const asksForBearer = schemes.some((each) => each.toLowerCase() === "bearer");
  if (asksForBearer && signature !== undefined) return `Bearer ${signature}`;
  if (token !== undefined && codec.tokenAsBearer) return `Bearer ${token}`;
  return undefined;
}
