import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { AgentInterface } from "../../protocol/card.ts";
import { CARD_PATHS } from "../../wire/card/client-cards.ts";

/** A URL where the card may be. */
export interface CardPlace {
  readonly url: URL;
  /** The URL is above the given one, so the card may be that of another agent and must be checked. */
  readonly isAbove: boolean;
}

/** How many path levels above the given URL are tried, besides the root. */
const MAX_LEVELS = 3;

/**
 * The URLs where the card may be, in the order to try them. `given` is the URL of the card, of the agent, or of one of its endpoints.
 * `https://h/x` gives `/x/.well-known/agent-card.json`, `/x/.well-known/agent.json`, both paths at the root, and `/x` itself.
 */
export function cardPlaces(given: URL): readonly CardPlace[] {
  const base = new URL(given);
  base.hash = "";
  if (isCardAddress(base)) return [{ url: base, isAbove: false }];
  base.search = "";
  const own = withoutTrailing(base.pathname, "/");
  const above = pathsAbove(own);
  const isDeeper = above.length === MAX_LEVELS && above.at(-1) !== "";
  const places = [own, ...above, ...(isDeeper ? [""] : [])].flatMap((path) =>
    CARD_PATHS.map((card) => ({ url: new URL(path + card, base.origin), isAbove: path !== own })),
  );
  // Some servers have their card at a URL of their own choice.
  const named = namedPlaces(own).map((path) => ({ url: new URL(path, base.origin), isAbove: false }));
  return own === "" && given.search === "" ? places : [...places, ...named, { url: given, isAbove: false }];
}

/** VoltAgent and others serve the card of the agent at `/X/a2a/{id}` at `/X/.well-known/{id}/agent-card.json`. */
function namedPlaces(path: string): readonly string[] {
  const [, above, id] = /^(.*)\/a2a\/([^/]+)$/.exec(path) ?? [];
  return above === undefined || id === undefined ? [] : [`${above}/.well-known/${id}/agent-card.json`];
}

/** Whether the URL looks like that of a card. */
function isCardAddress({ pathname }: URL): boolean {
  return pathname.endsWith(".json") || pathname.includes("/.well-known/");
}

/** `/a/b/c` → `/a/b`, `/a` and the empty path; at most `MAX_LEVELS`. */
function pathsAbove(path: string): readonly string[] {
  const paths: string[] = [];
  for (let end = path.lastIndexOf("/"); end !== -1 && paths.length < MAX_LEVELS; end = path.lastIndexOf("/", end - 1)) {
    paths.push(path.slice(0, end).replace(/\/$/, ""));
    if (end === 0) break;
  }
  return paths;
}

/**
 * Whether the interfaces belong to the agent at this URL: one of them is at or below the URL, or the URL is below one of them. An interface at
 * the root proves nothing, because every URL is below it.
 */
export function isReachedAt(interfaces: readonly AgentInterface[], given: URL): boolean {
  const asked = withSlash(given.pathname);
  return interfaces.some(({ url }) => {
    if (!URL.canParse(url)) return false;
    const path = withSlash(new URL(url).pathname);
    return path.startsWith(asked) || (path !== "/" && asked.startsWith(path));
  });
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
