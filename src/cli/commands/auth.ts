import type { Command } from "commander";
import type { OAuthCredentials, Token, TokenStore, UsableFlow } from "../../client/credentials/contract.ts";
import { createAuthorizer } from "../../client/credentials/create-authorizer.ts";
import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { agentReference, referenceKey } from "../options/agent-reference.ts";
import { ownSetting } from "../options/own-option.ts";
import { runSession, type Session } from "../session/session.ts";
import { deleteLogin, readLogins, storedTokens, tokenFile } from "../session/token-store.ts";
import { agentCommand, groupCommand } from "./agent.ts";

/** `palaver auth login` and `palaver auth logout`. Tokens are stored per agent in `~/.config/a2a-cli/tokens.json`. */
export function authCommand(context: CliContext): Command {
  return groupCommand("auth", "Log in to agents that require authentication.", [
    loginCommand(context),
    logoutCommand(context),
  ]);
}

/** OAuth 2 flows: the command-line name and the name in agent cards. */
const FLOWS = { "device-code": "deviceCode", "client-credentials": "clientCredentials" } as const;
type FlowName = keyof typeof FLOWS;

function loginCommand(context: CliContext): Command {
  const command = agentCommand("login", {
    description: "Get an OAuth 2 token as the agent's card describes, and store it for later calls to that agent.",
    own: [
      {
        flags: "--flow <flow>",
        description: "OAuth 2 flow (default: the first that the card offers)",
        choices: Object.keys(FLOWS),
      },
      { flags: "--client-id <id>", description: "OAuth 2 client id" },
      {
        flags: "--client-secret <secret>",
        description: "OAuth 2 client secret; safer in A2ACLI_CLIENT_SECRET",
      },
      { flags: "--scope <scopes>", description: "scopes to request (default: the scopes that the card requires)" },
    ],
    examples: [
      ["palaver auth login -a https://agents.example.org --client-id me", "confirm in a browser, on any device"],
      [
        "palaver auth login -a URL --client-id robot --flow client-credentials",
        "without a browser; secret in A2ACLI_CLIENT_SECRET",
      ],
    ],
  });
  return command.action(() => runSession(context, command.opts(), login));
}

function logoutCommand(context: CliContext): Command {
  const command = agentCommand("logout", {
    description: "Delete the stored token of an agent.",
    examples: [["palaver auth logout -a https://agents.example.org", "later calls to it are anonymous"]],
  });
  return command.action(() =>
    runSession(context, command.opts(), async (session) => {
      const agent = agentKey(session);
      const isKnown = readLogins(context.home)[agent] !== undefined;
      if (isKnown) deleteLogin(context.home, agent);
      await session.output.own({
        json: { agent, forgotten: isKnown },
        fields: [
          ["Agent", agent],
          ["Deleted", isKnown ? "yes" : "no token was stored"],
        ],
      });
    }),
  );
}

/** The name of the agent in the token file. The URL of its card and its own URL give the same name. */
function agentKey({ settings, context }: Session): string {
  if (settings.agentCard === undefined) {
    throw usageError("The agent is missing.", "Add its URL: -a https://agents.example.org");
  }
  return referenceKey(agentReference(settings.agentCard, context.cwd));
}

/** The card is read without credentials: it says which ones to get. Only flows that work without a browser on this machine are offered. */
async function login(session: Session): Promise<void> {
  const { context, sources } = session;
  const agent = agentKey(session);
  const clientId = ownSetting(sources, "client-id");
  if (clientId === undefined) {
    throw usageError("The OAuth 2 client id is missing.", "Add --client-id ID, or set A2ACLI_CLIENT_ID.");
  }
  const { card } = await session.connect({ anonymous: true });
  const { name, scheme } = flowOf(card, ownSetting(sources, "flow"));
  const clientSecret = ownSetting(sources, "client-secret");
  session.redaction.hide(clientSecret);
  if (name === "client-credentials" && clientSecret === undefined) {
    throw usageError("The client-credentials flow needs a client secret.", "Set A2ACLI_CLIENT_SECRET.");
  }
  const scope = ownSetting(sources, "scope");
  const flow: UsableFlow = FLOWS[name];
  const kept = { clientId, flow, ...(scope !== undefined && { scopes: scope.split(/[\s,]+/).filter(Boolean) }) };
  const hide = ({ accessToken, refreshToken }: Token): void => {
    session.redaction.hide(accessToken);
    session.redaction.hide(refreshToken);
  };
  const store = storedTokens({ home: context.home, agent, login: kept, onToken: hide });
  const oauth2 = { ...kept, ...(clientSecret !== undefined && { clientSecret }) };
  await printResult(session, {
    agent,
    name,
    token: await obtain(session, onlyScheme(card, scheme), { oauth2, store }),
  });
}

/** Requests a token exactly as a call to the agent would, but makes no call. */
async function obtain(
  session: Session,
  card: AgentCard,
  { oauth2, store }: { readonly oauth2: OAuthCredentials; readonly store: TokenStore },
): Promise<Token> {
  const { send, signal } = session;
  let obtained: Token | undefined;
  // A login always requests a new token, so the stored token is not read.
  const tokens: TokenStore = {
    get: () => undefined,
    set(key, token) {
      obtained = token;
      return store.set(key, token);
    },
    delete: () => undefined,
  };
  session.progress.say("Requesting a token");
  const onDeviceCode: OAuthCredentials["onDeviceCode"] = async ({
    userCode,
    verificationUri,
    verificationUriComplete,
  }) => {
    await session.note(`Open ${verificationUri} in a browser and enter the code ${userCode}`);
    if (verificationUriComplete !== undefined) await session.note(`Or open ${verificationUriComplete}`);
    session.progress.say("Waiting for you to confirm in the browser");
  };
  const { authorize } = createAuthorizer(card, { oauth2: { ...oauth2, tokens, onDeviceCode } }, { send });
  const unsentRequest = { url: new URL("https://localhost/"), headers: new Headers() };
  await authorize(unsentRequest, { operation: "get", card, signal });
  if (obtained === undefined)
    throw new CliError("A2ACLI_ERR_AUTH_FAILED", "The authorisation server returned no token.");
  return obtained;
}

async function printResult(
  { output, context }: Session,
  { agent, name, token }: { readonly agent: string; readonly name: FlowName; readonly token: Token },
): Promise<void> {
  const expires = token.expiresAt === undefined ? undefined : new Date(token.expiresAt).toISOString();
  const storedIn = tokenFile(context.home);
  await output.own({
    json: { agent, flow: name, expiresAt: expires ?? null, renewable: token.refreshToken !== undefined, storedIn },
    fields: [
      ["Agent", agent],
      ["Flow", name],
      ...(expires === undefined ? [] : [["Expires", expires] as const]),
      ["Stored in", storedIn],
    ],
  });
}

/** The first flow that the card offers, a person's login first. Throws if it offers none. */
function flowOf(card: AgentCard, wanted: string | undefined): { readonly name: FlowName; readonly scheme: string } {
  const names: readonly FlowName[] = ["device-code", "client-credentials"];
  for (const name of names) {
    if (wanted !== undefined && wanted !== name) continue;
    const found = Object.entries(card.securitySchemes ?? {}).find(([, scheme]) => offers(scheme, name));
    if (found !== undefined) return { name, scheme: found[0] };
  }
  throw new CliError(
    "A2ACLI_ERR_AUTH_FAILED",
    `The agent "${card.name}" offers no ${wanted ?? "OAuth 2"} login that works from a command line.`,
    {
      hint: "palaver card get shows the required credentials. Set a token in A2ACLI_BEARER or a key in A2ACLI_API_KEY.",
    },
  );
}

function offers(scheme: SecurityScheme, name: FlowName): boolean {
  return scheme.type === "oauth2" && scheme.flows[FLOWS[name]] !== undefined;
}

/** The card reduced to one security scheme, with the scopes that the card requires for it. */
function onlyScheme(card: AgentCard, name: string): AgentCard {
  const scheme = card.securitySchemes?.[name];
  const scopes = card.security?.find((required) => required[name] !== undefined)?.[name] ?? [];
  return {
    ...card,
    ...(scheme !== undefined && { securitySchemes: { [name]: scheme } }),
    security: [{ [name]: scopes }],
  };
}
