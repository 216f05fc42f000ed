import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { OAuthFlow, SecurityScheme } from "../../protocol/card.ts";
import { RemoteError } from "../http/errors.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";
import { shown } from "../http/redirect.ts";
import { isPrivateWay } from "../http/safe-address.ts";
import { type OAuthCredentials, USABLE_FLOWS, type UsableFlow } from "./contract.ts";

/** The endpoints of an authorization server. */
export interface AuthorizationServer {
  readonly tokenUrl: string;
  /** Where tokens are refreshed; the token endpoint unless the card names another URL. */
  readonly refreshUrl: string;
  readonly authorizationUrl?: string;
  readonly deviceAuthorizationUrl?: string;
  /** As its metadata states it; absent if no metadata was read. */
  readonly issuer?: string;
  /** Client authentication methods of its token endpoint, if known. */
  readonly authentication?: readonly string[];
}

/** The schemes of a card whose credential is a token of an authorization server. */
export type TokenScheme = Extract<SecurityScheme, { readonly type: "oauth2" | "openIdConnect" }>;

/** The endpoint that each flow needs besides the token endpoint. */
const NEEDED: Readonly<Record<UsableFlow, "authorizationUrl" | "deviceAuthorizationUrl" | undefined>> = {
  authorizationCode: "authorizationUrl",
  deviceCode: "deviceAuthorizationUrl",
  clientCredentials: undefined,
};

/**
 * The usable flows, best first, as far as is known without a request: flows that the card offers, or may offer if it only names the
 * issuer, and that the credentials support.
 */
export function possibleFlows(scheme: TokenScheme | undefined, credentials: OAuthCredentials): readonly UsableFlow[] {
  const { flow: wanted, authorizationCode, onDeviceCode, clientSecret } = credentials;
  const means: Readonly<Record<UsableFlow, boolean>> = {
    authorizationCode: authorizationCode !== undefined,
    deviceCode: onDeviceCode !== undefined,
    clientCredentials: clientSecret !== undefined,
  };
  return USABLE_FLOWS.filter((flow) => {
    if (wanted === undefined ? !means[flow] : flow !== wanted) return false;
    return knowsWhere(flow, scheme, credentials);
  });
}

/** Metadata may contain every endpoint, so a URL of metadata is sufficient before it is read. */
function knowsWhere(flow: UsableFlow, scheme: TokenScheme | undefined, credentials: OAuthCredentials): boolean {
  if (metadataUrls(scheme, credentials).length > 0) return true;
  const { tokenUrl } = endpoints(flow, scheme, credentials);
  const needed = NEEDED[flow];
  return tokenUrl !== undefined && (needed === undefined || endpoints(flow, scheme, credentials)[needed] !== undefined);
}

/** The endpoints that the caller or the card states. */
function endpoints(flow: UsableFlow, scheme: TokenScheme | undefined, own: OAuthCredentials): Partial<OAuthFlow> {
  const declared = scheme?.type === "oauth2" ? (scheme.flows[flow] ?? {}) : {};
  const { tokenUrl, authorizationUrl, deviceAuthorizationUrl } = own;
  return {
    ...declared,
    ...(tokenUrl !== undefined && { tokenUrl, refreshUrl: tokenUrl }),
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(deviceAuthorizationUrl !== undefined && { deviceAuthorizationUrl }),
  };
}

/** URLs of the server's metadata, if known. The caller's settings override the card. */
function metadataUrls(scheme: TokenScheme | undefined, { issuer }: OAuthCredentials): readonly string[] {
  if (issuer !== undefined) return issuerUrls(issuer);
  if (scheme?.type === "openIdConnect") return [scheme.openIdConnectUrl];
  return scheme?.oauth2MetadataUrl === undefined ? [] : [scheme.oauth2MetadataUrl];
}

/** The metadata paths of OpenID Connect and of RFC 8414. */
function issuerUrls(issuer: string): readonly string[] {
  if (!URL.canParse(issuer)) return [issuer];
  const { origin, pathname } = new URL(issuer);
  const path = withoutTrailing(pathname, "/");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** What decides which authorization server is used, and how to reach it. */
export interface ServerOptions {
  readonly flow: UsableFlow;
  readonly scheme: TokenScheme | undefined;
  readonly credentials: OAuthCredentials;
  readonly fetching: FetchOptions;
}

/** Finds the endpoints. Reads the server's metadata only if the caller and the card do not state them. */
export async function findServer(options: ServerOptions): Promise<AuthorizationServer> {
  const { flow, scheme, credentials, fetching } = options;
  const declared = endpoints(flow, scheme, credentials);
  const needed = NEEDED[flow];
  const isComplete = declared.tokenUrl !== undefined && (needed === undefined || declared[needed] !== undefined);
  const urls = metadataUrls(scheme, credentials);
  const metadata =
    isComplete && credentials.issuer === undefined ? {} : await fetchMetadata(urls, credentials, fetching);
  const server = { ...metadata, ...declared };
  const { tokenUrl } = server;
  if (tokenUrl === undefined)
    throw new RemoteError("no-credentials", "The token endpoint is unknown: neither the card nor `oauth2` states it.");
  if (needed !== undefined && server[needed] === undefined) {
    throw new RemoteError(
      "no-credentials",
      `The endpoint of the flow ${flow} is unknown: neither the card nor \`oauth2\` states it.`,
    );
  }
  return { ...server, tokenUrl, refreshUrl: server.refreshUrl ?? tokenUrl };
}

type Metadata = Partial<AuthorizationServer>;

/** Tries the URLs in turn; only a 404 leads to the next one. Throws `no-credentials` if a document describes no server. */
async function fetchMetadata(
  urls: readonly string[],
  credentials: OAuthCredentials,
  fetching: FetchOptions,
): Promise<Metadata> {
  for (const address of urls) {
    const url = tokenAddress(address, credentials);
    const { headers: _notForOthers, ...rest } = fetching;
    const { status, text } = await fetchDocument(url, { headers: { accept: "application/json" } }, rest);
    if (status === 404 && address !== urls.at(-1)) continue;
    const json = status === 200 ? jsonObject(text) : undefined;
    if (json === undefined) {
      throw new RemoteError(
        "no-credentials",
        `${shown(url)} does not describe an authorization server: HTTP ${status}.`,
      );
    }
    return readMetadata(json, url, credentials);
  }
  return {};
}

/** Reads the members of RFC 8414 §2. Throws `no-credentials` if the document describes another issuer. */
function readMetadata(
  json: Readonly<Record<string, unknown>>,
  url: URL,
  { issuer: wanted }: OAuthCredentials,
): Metadata {
  const text = (name: string): string | undefined => {
    const value = json[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const issuer = text("issuer");
  // A server must not describe another one (RFC 8414 §3.3).
  const isOwn = wanted === undefined ? originOf(issuer) === url.origin : trimmed(issuer) === trimmed(wanted);
  if (!isOwn) throw new RemoteError("no-credentials", `${shown(url)} describes another authorization server.`);
  const methods = json["token_endpoint_auth_methods_supported"];
  const tokenUrl = text("token_endpoint");
  const authorizationUrl = text("authorization_endpoint");
  const deviceAuthorizationUrl = text("device_authorization_endpoint");
  return {
    ...(issuer !== undefined && { issuer }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(deviceAuthorizationUrl !== undefined && { deviceAuthorizationUrl }),
    ...(Array.isArray(methods) && { authentication: methods.filter((method) => typeof method === "string") }),
  };
}

function originOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}

function trimmed(address: string | undefined): string | undefined {
  return address === undefined ? undefined : withoutTrailing(address, "/");
}

/**
 * A URL that secrets may be sent to: encrypted, or on this machine, and on a trusted host. Throws `no-credentials` for any other URL: the
 * card chooses these URLs, and whoever wrote the card could otherwise collect client secrets.
 */
export function tokenAddress(address: string, { hosts, insecure = false }: OAuthCredentials): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new RemoteError("no-credentials", "The URL of an authorization server must be an http or https URL.");
  }
  if (hosts !== undefined && !hosts.includes(url.host)) {
    throw new RemoteError(
      "no-credentials",
      `${url.host} is not one of the hosts that may receive token requests (\`oauth2.hosts\`).`,
    );
  }
  if (!insecure && !isPrivateWay(url)) {
    throw new RemoteError(
      "no-credentials",
      `${shown(url)} is not encrypted. Token requests need https (or \`oauth2.insecure\`).`,
    );
  }
  return url;
}
