import { withoutTrailing } from "../internal/without-trailing.ts";
import { PLAIN_BINDING } from "../wire/plain/binding.ts";
import type { A2AAgentCard } from "./agent-card-types.ts";
import { askServer } from "./ask-server.ts";
import { builtAgentCard, builtInstanceCard, type CardAgent, type CardDatabase } from "./built-card.ts";
import { knownServer, rememberServer } from "./known-servers.ts";
import { registeredTools } from "./registered-tools.ts";
import type { A2AServerDeps } from "./types.ts";

/**
 * The card of this program. If MCP tools are registered (`registerMcpTools`) and no `deps` are passed, it lists all of them as skills, at `baseUrl` or else the address
 * that the environment variables `BIND_HOST` (default `127.0.0.1`) and `PORT` (default `3000`) name. Otherwise it is the card of the server's first agent, which is
 * served at the server's root; `baseUrl` replaces the server's own URL in it. Without `deps`, the server that was last passed to one of these functions is
 * used; throws a `TypeError` if there is none.
 */
export async function buildAgentCard(baseUrl?: string, deps?: A2AServerDeps): Promise<A2AAgentCard> {
  if (deps === undefined && registeredTools().tools.size > 0) return builtInstanceCard(baseUrl);
  return cardOf(undefined, baseUrl, deps);
}

/**
 * The card of one agent. With a server, it is the card that is served at `/agents/{id}`; rejects with a `NotFoundError` if the agent is not served. With registered MCP
 * tools or a `db`, it lists the tools of the agent's `mcpToolPermissions`, or else the default tools, and adds what `db.getPersona` and
 * `db.getAgentBundles` know about the agent.
 */
export async function buildAgentCardForAgent(
  agent: CardAgent,
  baseUrl?: string,
  source?: A2AServerDeps | CardDatabase,
): Promise<A2AAgentCard> {
  if (source !== undefined && "server" in source) return cardOf(agent.id, baseUrl, source);
  const isBuilt = source !== undefined || registeredTools().tools.size > 0;
  return isBuilt ? builtAgentCard(agent, baseUrl, source) : cardOf(agent.id, baseUrl);
}

/** Asks the server itself, so that the card is the one that callers get. */
async function cardOf(
  agentId: string | undefined,
  baseUrl: string | undefined,
  deps: A2AServerDeps = knownServer(),
): Promise<A2AAgentCard> {
  rememberServer(deps);
  // Safe: a response of this package's own server.
  const card = (await askServer({ ...deps, agentId }, "/.well-known/agent-card.json")) as A2AAgentCard;
  if (baseUrl === undefined) return card;
  const base = withoutTrailing(baseUrl, "/");
  return moved(card, agentId === undefined ? base : `${base}/agents/${agentId}`);
}

/** The same card with other URLs. */
function moved(card: A2AAgentCard, base: string): A2AAgentCard {
  const from = baseOf(card);
  const move = <T extends { readonly url?: string }>(holder: T): T => {
    const { url } = holder;
    return url?.startsWith(from) === true ? { ...holder, url: base + url.slice(from.length) } : holder;
  };
  const { additionalInterfaces, supportedInterfaces } = card;
  return {
    ...move(card),
    ...(additionalInterfaces !== undefined && { additionalInterfaces: additionalInterfaces.map(move) }),
    ...(supportedInterfaces !== undefined && { supportedInterfaces: supportedInterfaces.map(move) }),
  };
}

/**
 * The common start of all URLs in a card. REST and plain URLs are exactly this; the JSON-RPC URL of 0.x has one more path segment.
 */
function baseOf({ url = "", supportedInterfaces = [], additionalInterfaces = [] }: A2AAgentCard): string {
  const newer = supportedInterfaces.find(({ protocolBinding }) => BARE_BINDINGS.includes(protocolBinding));
  const older = additionalInterfaces.find(({ transport }) => BARE_BINDINGS.includes(transport));
  return newer?.url ?? older?.url ?? url.replace(/\/(?:a2a)?$/, "");
}

const BARE_BINDINGS: readonly string[] = [PLAIN_BINDING, "HTTP+JSON"];
