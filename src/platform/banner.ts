import type { Agent } from "../engine/agent.ts";

export interface BannerFacts {
  /** Where the server is reached, without a slash at the end. */
  readonly url: string;
  readonly agents: readonly Agent[];
  /** Where data is kept, in words. */
  readonly storage: string;
  readonly version: string;
}

export const CARD_PATH = "/.well-known/agent-card.json";

/** What a person should know when a server has started: what, where, and what to try. */
export function banner(facts: BannerFacts): string {
  const { url, agents, storage, version } = facts;
  const width = Math.max(...agents.map(({ name }) => name.length));
  const served = agents.map(({ id, name }) => `    ${name.padEnd(width)}  ${url}/agents/${id}/`);
  return [
    "",
    `  Palaver ${version} is listening on ${url}`,
    "",
    agents.length === 1 ? "  Agent" : "  Agents (the first is also at the root)",
    ...served,
    "",
    `  Card  ${url}${CARD_PATH}`,
    `  Data  ${storage}`,
    "",
    "  Try this",
    ...tryThis(url).map((line) => `    ${line}`),
    "",
    "  Ctrl+C stops it.",
    "",
    "",
  ].join("\n");
}

/** The same for a log: no ornament, one fact per line. */
export function plainBanner(facts: BannerFacts): string {
  const { url, agents, storage, version } = facts;
  return [
    `Palaver ${version} is listening on ${url}`,
    ...agents.map(({ id, name }) => `Agent: ${name} ${url}/agents/${id}/`),
    `Card: ${url}${CARD_PATH}`,
    `Data: ${storage}`,
    `Try: ${tryThis(url).join("\n")}`,
    "",
  ].join("\n");
}

/** A shell command that sends a message to the agent at the root. */
function tryThis(url: string): readonly string[] {
  const message = { messageId: "1", role: "ROLE_USER", parts: [{ text: "Hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  return [`curl -s ${url}/ -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' \\`, `  -d '${body}'`];
}
