import { type Clock, createClock } from "../../internal/clock.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import { SingleFlight } from "../http/single-flight.ts";
import { requestPersonToken } from "./authorization-code.ts";
import { type AuthorizationServer, findServer, type TokenScheme } from "./authorization-server.ts";
import { requestClientToken } from "./client-credentials.ts";
import type { OAuthCredentials, Token, TokenStore, UsableFlow } from "./contract.ts";
import { requestDeviceToken } from "./device-code.ts";
import { readSecret } from "./secret.ts";
import { requestToken, type TokenContext, TokenRefusal } from "./token-request.ts";

/** What identifies the tokens of one source. */
export interface TokenSourceOptions {
  readonly scheme: TokenScheme | undefined;
  readonly flow: UsableFlow;
  readonly credentials: OAuthCredentials;
  /** The scopes that the agent requires. */
  readonly scopes: readonly string[];
  readonly fetching: FetchOptions;
}

/** A token that expires within this many milliseconds is not used: it might expire on the way. */
const MARGIN = 30_000;

/** Gets tokens with one flow and stores the current one. Concurrent calls share one token request. */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #clock: Clock;
  readonly #scopes: readonly string[];
  readonly #tokens: TokenStore;
  readonly #flights = new SingleFlight<Token>();
  #server: AuthorizationServer | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
    this.#clock = options.fetching.clock ?? createClock();
    this.#scopes = options.credentials.scopes ?? options.scopes;
    this.#tokens = options.credentials.tokens ?? new Map();
  }

  /** A user has to agree before there is a token. */
  get isInteractive(): boolean {
    return this.#options.flow !== "clientCredentials";
  }

  /** A token that has not expired, as far as is known. */
  async token(signal: AbortSignal): Promise<string> {
    const { accessToken } = await this.#flights.run("current", signal, async (shared) => {
      const context = await this.#context(shared);
      const kept = await this.#tokens.get(this.#key(context.server));
      return kept !== undefined && this.#isGood(kept) ? kept : this.#obtain(context, kept);
    });
    return accessToken;
  }

  /** A token other than the one that was refused; `undefined` if no other token can be obtained. */
  async replace(refused: string, signal: AbortSignal): Promise<string | undefined> {
    const { accessToken } = await this.#flights.run(`not ${refused}`, signal, async (shared) => {
      const context = await this.#context(shared);
      const kept = await this.#tokens.get(this.#key(context.server));
      // A concurrent call was rejected too and has already replaced the token.
      if (kept !== undefined && kept.accessToken !== refused && this.#isGood(kept)) return kept;
      return this.#obtain(context, kept);
    });
    return accessToken === refused ? undefined : accessToken;
  }

  /** A token of unknown expiry is used until the agent rejects it. */
  #isGood({ expiresAt }: Token): boolean {
    return expiresAt === undefined || expiresAt - MARGIN > this.#clock.now();
  }

  async #context(signal: AbortSignal): Promise<TokenContext> {
    const { flow, scheme, credentials, fetching } = this.#options;
    const shared = { ...fetching, signal };
    this.#server ??= await findServer({ flow, scheme, credentials, fetching: shared });
    return { server: this.#server, credentials, scopes: this.#scopes, fetching: shared, now: () => this.#clock.now() };
  }

  async #obtain(context: TokenContext, kept: Token | undefined): Promise<Token> {
    const key = this.#key(context.server);
    const token = (await this.#refresh(context, kept)) ?? (await this.#begin(context));
    await this.#tokens.set(key, token);
    return token;
  }

  /** `undefined` if there is no refresh token, or the server rejected it. */
  async #refresh(context: TokenContext, kept: Token | undefined): Promise<Token | undefined> {
    const { refreshToken: first } = this.#options.credentials;
    const refresh = kept?.refreshToken ?? (first === undefined ? undefined : await readSecret(first));
    if (refresh === undefined) return undefined;
    try {
      return await requestToken({ grant_type: "refresh_token", refresh_token: refresh }, context);
    } catch (error) {
      if (!(error instanceof TokenRefusal) || error.remote.httpStatus === undefined) throw error;
      // The refresh token is invalid. A server error (5xx) would not show that.
      if (error.remote.httpStatus >= 500) throw error;
      await this.#tokens.delete(this.#key(context.server));
      return undefined;
    }
  }

  /** The flow was chosen before, so its means exist. */
  async #begin(context: TokenContext): Promise<Token> {
    const { flow, credentials } = this.#options;
    if (flow === "deviceCode") return requestDeviceToken(context, this.#clock);
    const { authorizationCode } = credentials;
    if (flow === "authorizationCode" && authorizationCode !== undefined) {
      return requestPersonToken(context, authorizationCode);
    }
    return requestClientToken(context);
  }

  /** Tokens of different clients, flows and scopes must not be mixed. The order of scopes does not matter. */
  #key({ tokenUrl }: AuthorizationServer): string {
    const { flow, credentials } = this.#options;
    return JSON.stringify([tokenUrl, credentials.clientId, flow, [...this.#scopes].sort()]);
  }
}
