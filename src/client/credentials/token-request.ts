import { RemoteError } from "../http/errors.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";
import { shown } from "../http/redirect.ts";
import { guardOf } from "../http/url-guard.ts";
import { type AuthorizationServer, tokenAddress } from "./authorization-server.ts";
import type { OAuthCredentials, Token } from "./contract.ts";
import { base64, readSecret, redacted } from "./secret.ts";

/** What a request to an authorization server needs. */
export interface TokenContext {
  readonly server: AuthorizationServer;
  readonly credentials: OAuthCredentials;
  readonly scopes: readonly string[];
  readonly fetching: FetchOptions & { readonly signal: AbortSignal };
  /** Milliseconds since 1970. */
  now(): number;
}

/** An error response of an authorization server (RFC 6749 §5.2). */
export class TokenRefusal extends RemoteError {
  /** Error code such as `invalid_grant`; empty if the response has none. */
  readonly error: string;

  constructor(message: string, error: string, httpStatus: number) {
    super("no-credentials", message, { remote: { httpStatus, ...(error !== "" && { reason: error }) } });
    this.error = error;
  }
}

/** The parameters of a form, by name. */
export type Form = Readonly<Record<string, string>>;

/** Posts a form to an authorization server, with client authentication. Resolves with the JSON response. */
export async function postForm(
  address: string,
  form: Form,
  { server, credentials, fetching }: TokenContext,
): Promise<Readonly<Record<string, unknown>>> {
  const url = tokenAddress(address, credentials);
  const { clientId, parameters } = credentials;
  const secret = credentials.clientSecret === undefined ? undefined : await readSecret(credentials.clientSecret);
  const byHeader = secret !== undefined && methodOf(server, credentials) === "basic";
  const body = new URLSearchParams({ ...parameters, ...form });
  if (!byHeader) body.set("client_id", clientId);
  if (secret !== undefined && !byHeader) body.set("client_secret", secret);
  const headers = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
    ...(byHeader && { authorization: `Basic ${base64(`${formEncoded(clientId)}:${formEncoded(secret)}`)}` }),
  };
  // The form contains secrets, so redirects are not followed.
  const guard = async (target: URL): Promise<void> => {
    await guardOf(fetching.guard)?.(target);
    if (target.href !== url.href) throw new RemoteError("blocked-url", `${shown(url)} redirects to ${shown(target)}.`);
  };
  const { headers: _notForOthers, ...rest } = fetching;
  const request = { method: "POST", headers, body: body.toString() } as const;
  const { status, text } = await fetchDocument(url, request, { ...rest, guard });
  const json = jsonObject(text);
  if (json !== undefined && status === 200 && json["error"] === undefined) return json;
  throw refusal(url, { status, json, secrets: [secret, ...SECRET_FIELDS.map((name) => form[name])] });
}

/** `basic` unless the server's metadata names only `post`: every server must support `basic` (RFC 6749 §2.3.1). */
function methodOf(
  { authentication: taken }: AuthorizationServer,
  { authentication }: OAuthCredentials,
): "basic" | "post" {
  if (authentication !== undefined) return authentication;
  const isPost = taken?.includes("client_secret_post") === true && !taken.includes("client_secret_basic");
  return isPost ? "post" : "basic";
}

/** Names and secrets in the header are encoded as in forms, by RFC 6749 §2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice("text=".length);
}

/** The answer of the authorization server, and the secrets that its texts must not reveal. */
interface Refused {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>> | undefined;
  readonly secrets: readonly (string | undefined)[];
}

/** Members of a form that an error must not repeat. */
const SECRET_FIELDS = ["code", "code_verifier", "refresh_token", "device_code"] as const;

/** The server's own texts are shown, shortened and without secrets: they usually say what to fix. */
function refusal(url: URL, { status, json, secrets }: Refused): TokenRefusal {
  const { error, error_description: description } = json ?? {};
  const code = typeof error === "string" && /^[\w.-]{1,60}$/.test(error) ? redacted(error, secrets) : "";
  const words = typeof description === "string" ? redacted(description, secrets) : "";
  const details = [code, words].filter((part) => part !== "").join(", ");
  const message = `${shown(url)} did not issue a token: ${details === "" ? `HTTP ${status}` : details}.`;
  return new TokenRefusal(message, code, status);
}

/** Requests a token from the token endpoint. */
export async function requestToken(form: Form, context: TokenContext): Promise<Token> {
  const { server, now } = context;
  const isRefresh = form["grant_type"] === "refresh_token";
  const json = await postForm(isRefresh ? server.refreshUrl : server.tokenUrl, form, context);
  return readToken(json, now(), form["refresh_token"]);
}

/** The answer to a refresh may omit the refresh token: then the previous one stays valid (RFC 6749 §6). */
function readToken(json: Readonly<Record<string, unknown>>, now: number, previous: string | undefined): Token {
  const { access_token: accessToken, token_type: type = "Bearer", expires_in: lifetime, refresh_token: refresh } = json;
  if (typeof accessToken !== "string" || accessToken === "") {
    throw new RemoteError("no-credentials", "The authorization server's response has no token.");
  }
  if (typeof type !== "string" || type.toLowerCase() !== "bearer") {
    throw new RemoteError(
      "no-credentials",
      "The authorization server issues tokens of an unsupported type; only Bearer is supported.",
    );
  }
  const seconds = Number(lifetime);
  const refreshToken = typeof refresh === "string" && refresh !== "" ? refresh : previous;
  return {
    accessToken,
    ...(lifetime !== undefined && lifetime !== null && seconds >= 0 && { expiresAt: now + seconds * 1000 }),
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** The scopes as a parameter; none if no scopes are requested. */
export function scopeParameter(scopes: readonly string[]): Form {
  return scopes.length === 0 ? {} : { scope: scopes.join(" ") };
}
