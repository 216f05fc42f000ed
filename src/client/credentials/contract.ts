import type { OAuthFlowName } from "../../protocol/card.ts";
import type { Authorize } from "../http/contract.ts";
import type { Secret } from "./secret.ts";

/** What there is to show to agents. Which of it is shown depends on what the agent's card requires. */
export interface CredentialSet {
  /** A token that is at hand: for agents that want a bearer token, whoever issues it. */
  readonly bearer?: Secret;
  /** A key; with where it goes, also for agents whose cards do not say. */
  readonly apiKey?: Secret | ApiKey;
  readonly basic?: { readonly username: string; readonly password: Secret };
  /** How to get tokens, for agents that want OAuth 2 or OpenID Connect. */
  readonly oauth2?: OAuthCredentials;
  /** For a scheme by its name in the card: the key, the token, or what follows the name of an HTTP scheme. */
  readonly schemes?: Readonly<Record<string, Secret>>;
  /** The `fetch` in use presents a certificate, for agents that want one. */
  readonly mutualTls?: boolean;
}

export interface ApiKey {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
  readonly value: Secret;
}

/** What to show, or a function that puts it on every request itself. */
export type Credentials = CredentialSet | Authorize;

/** Ways to a token that are supported. The others are deprecated: they hand a person's password around, or tokens in URLs. */
export const USABLE_FLOWS = ["authorizationCode", "deviceCode", "clientCredentials"] as const;
export type UsableFlow = Extract<OAuthFlowName, (typeof USABLE_FLOWS)[number]>;

export interface OAuthCredentials {
  readonly clientId: string;
  /** Absent for public clients. */
  readonly clientSecret?: Secret;
  /** Default: those that the agent requires. */
  readonly scopes?: readonly string[];
  /** Default: the first that card and credentials are enough for, of `authorizationCode`, `deviceCode`, `clientCredentials`. */
  readonly flow?: UsableFlow;
  /** How a person is asked in a browser. */
  readonly authorizationCode?: AuthorizationCodeSteps;
  /** Tells a person the code to enter on another device. */
  readonly onDeviceCode?: (prompt: DevicePrompt) => void | Promise<void>;
  /** A token to begin with that gets others. */
  readonly refreshToken?: Secret;
  /** Instead of what the card says. */
  readonly issuer?: string;
  readonly tokenUrl?: string;
  readonly authorizationUrl?: string;
  readonly deviceAuthorizationUrl?: string;
  /**
   * Hosts, with their port where they have one, that may be asked for tokens. Default: those that the card names; whoever takes cards from
   * strangers says here who may see its secret.
   */
  readonly hosts?: readonly string[];
  /** How the secret is shown to the token endpoint. Default: as that says, else `basic`. */
  readonly authentication?: "basic" | "post";
  /** Further parameters of token and authorization requests, such as `audience` or `resource`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Where tokens are kept; a `Map` will do. Default: as long as the connection is used. */
  readonly tokens?: TokenStore;
  /** Whether tokens may be asked for without encryption, other than on this machine. Default false. */
  readonly insecure?: boolean;
}

export interface AuthorizationCodeSteps {
  /** Where the browser is sent when the person has agreed. */
  readonly redirectUri: string;
  /** Opens the URL in a browser, and gives the URL that the browser was sent to in the end. */
  readonly open: (url: string, context: { readonly signal: AbortSignal }) => Promise<string>;
}

export interface DevicePrompt {
  readonly userCode: string;
  readonly verificationUri: string;
  /** The same with the code in it. */
  readonly verificationUriComplete?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface Token {
  readonly accessToken: string;
  /** Milliseconds since 1970; absent: not known. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
}

/** Keeps tokens by who issued them, to whom and for what. */
export interface TokenStore {
  get(key: string): Token | undefined | Promise<Token | undefined>;
  set(key: string, token: Token): unknown;
  delete(key: string): unknown;
}
