import { type TraceContext, writeTraceparent } from "../protocol/trace-context.ts";
import type { PushCodec } from "../wire/codec.ts";
import type { WebhookTarget } from "./webhook-target.ts";

/** The webhook's token, as in the examples of A2A 0.1 §9.4 and 0.3 §9.5. */
export const TOKEN_HEADER = "x-a2a-notification-token";
/** Palaver's own header: A2A defines none for signatures. */
export const SIGNATURE_HEADER = "x-a2a-notification-signature";

/** What the headers of a notification depend on. */
export interface RequestParts {
  readonly target: WebhookTarget;
  readonly codec: PushCodec;
  /** Where the notification belongs in a trace. */
  readonly trace: TraceContext | undefined;
  /** The JWT that proves who sent the notification. `undefined`: this server does not sign. */
  readonly signature: string | undefined;
}

/**
 * The headers of one notification, with names in lower case. The server's own headers replace headers of the same name that the caller set,
 * except `authorization`: the caller's takes precedence.
 */
export function requestHeaders({ target, codec, trace, signature }: RequestParts): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(target.headers ?? {})) headers[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(codec.headers)) headers[name.toLowerCase()] = value;
  const authorization = authorizationOf({ target, codec, signature });
  if (authorization !== undefined) headers["authorization"] ??= authorization;
  if (target.token !== undefined) headers[TOKEN_HEADER] = target.token;
  if (signature !== undefined) headers[SIGNATURE_HEADER] = signature;
  if (trace !== undefined) headers["traceparent"] = writeTraceparent(trace);
  if (trace?.state !== undefined) headers["tracestate"] = trace.state;
  headers["content-type"] = codec.mediaType;
  return headers;
}

/** `<scheme> <credentials>` as configured (A2A 1.0 §13.2), else the signature or the token as bearer token, else none. */
function authorizationOf({ target, codec, signature }: Omit<RequestParts, "trace">): string | undefined {
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
