import type { OAuthFlowName } from "../../protocol/card.ts";
import type { Authorize } from "../http/contract.ts";
import type { Secret } from "./secret.ts";

/** The caller's credentials. The agent's card decides which of them are sent. */
export interface CredentialSet {
  /** A bearer token, for agents that require one, from any issuer. */
  readonly bearer?: Secret;
  /** An API key. An `ApiKey` also says where to send it, for agents whose cards do not. */
  readonly apiKey?: Secret | ApiKey;
  /** User and password for HTTP Basic authentication. */
  readonly basic?: { readonly username: string; readonly password: Secret };
  /** How to get tokens, for agents that require OAuth 2 or OpenID Connect. */
  readonly oauth2?: OAuthCredentials;
  /** Credentials by the name of the security scheme in the card: a key, a token, or the value after the name of an HTTP scheme. */
  readonly schemes?: Readonly<Record<string, Secret>>;
  /** The `fetch` in use presents a client certificate, for agents that require one. Default false. */
  readonly mutualTls?: boolean;
}

/** An API key, and where to send it. */
export interface ApiKey {
  /** Where the key goes. */
  readonly in: "header" | "query" | "cookie";
  /** Name of the header, query parameter or cookie. */
  readonly name: string;
  /** The key itself. */
  readonly value: Secret;
}

/** Credentials, or a function that adds them to every request itself. */
export type Credentials = CredentialSet | Authorize;

/** The supported OAuth 2 flows. The implicit and password flows are deprecated: they expose tokens in URLs or the user's password. */
export const USABLE_FLOWS = ["authorizationCode", "deviceCode", "clientCredentials"] as const;
/** A supported OAuth 2 flow. */
export type UsableFlow = Extract<OAuthFlowName, (typeof USABLE_FLOWS)[number]>;

/** How to get OAuth 2 or OpenID Connect tokens. */
export interface OAuthCredentials {
  /** The client id at the authorization server. */
  readonly clientId: string;
  /** The client secret. Omit it for public clients. */
  readonly clientSecret?: Secret;
  /** Scopes to request. Default: the scopes that the agent requires. */
  readonly scopes?: readonly string[];
  /**
   * The flow to use. Default: the first of `authorizationCode`, `deviceCode`, `clientCredentials` that the card offers and these credentials suffice
   * for.
   */
  readonly flow?: UsableFlow;
  /** Opens a browser, for the `authorizationCode` flow. */
  readonly authorizationCode?: AuthorizationCodeSteps;
  /** Shows the user the code to enter on another device, for the `deviceCode` flow. */
  readonly onDeviceCode?: (prompt: DevicePrompt) => void | Promise<void>;
  /** A refresh token to get the first access token with. */
  readonly refreshToken?: Secret;
  /** Issuer. Default: from the card. */
  readonly issuer?: string;
  /** Token endpoint. Default: from the card, or the issuer's metadata. */
  readonly tokenUrl?: string;
  /** Authorization endpoint. Default: from the card, or the issuer's metadata. */
  readonly authorizationUrl?: string;
  /** Device authorization endpoint. Default: from the card, or the issuer's metadata. */
  readonly deviceAuthorizationUrl?: string;
  /**
   * Hosts, with port if it is not the default, that may receive token requests. Default: the hosts that the card names. Set this if cards come from
   * untrusted sources: the client secret is sent to these hosts.
   */
  readonly hosts?: readonly string[];
  /** How the client secret is sent to the token endpoint. Default: as the issuer's metadata says, else `basic`. */
  readonly authentication?: "basic" | "post";
  /** Additional parameters of token and authorization requests, such as `audience` or `resource`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Where to store tokens; a `Map` works. Default: in memory, for the life of the connection. */
  readonly tokens?: TokenStore;
  /** Allow token requests over http to other machines. Default false. */
  readonly insecure?: boolean;
}

/** The browser part of the `authorizationCode` flow. */
export interface AuthorizationCodeSteps {
  /** The redirect URI that is registered for the client. */
  readonly redirectUri: string;
  /** Opens `url` in a browser. Resolves with the URL that the authorization server redirected the browser to. */
  readonly open: (url: string, context: { readonly signal: AbortSignal }) => Promise<string>;
}

/** What to show the user in the `deviceCode` flow. */
export interface DevicePrompt {
  /** The code to enter. */
  readonly userCode: string;
  /** The page to enter it on. */
  readonly verificationUri: string;
  /** The same page with the code filled in. */
  readonly verificationUriComplete?: string;
  /** When the code expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A token as it is stored. */
export interface Token {
  /** The access token. */
  readonly accessToken: string;
  /** When it expires, in milliseconds since 1970. Absent: unknown. */
  readonly expiresAt?: number;
  /** A refresh token, if the server issued one. */
  readonly refreshToken?: string;
}

/** Stores tokens. The key contains the issuer, the client and the scopes. */
export interface TokenStore {
  /** The stored token, if any. */
  get(key: string): Token | undefined | Promise<Token | undefined>;
  /** Stores a token, replacing an earlier one. */
  set(key: string, token: Token): unknown;
  /** Removes a token, for example after it was rejected. */
  delete(key: string): unknown;
}
