import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { AgentInterface } from "../../protocol/card.ts";
import { CARD_PATHS } from "../../wire/card/client-cards.ts";

/** Where a card may be, and whether one found there must be checked to be that of the agent in question. */
export interface CardPlace {
  readonly url: URL;
  /** It lies above the address that was given, where another agent's card may be as well. */
  readonly isAbove: boolean;
}

/** How many levels above the given address are looked at, the root aside. */
const MAX_LEVELS = 3;

/**
 * Where to look for the card of an agent of which some address is known: the card's own, the agent's base, or one of its
 * endpoints. In the order in which to look.
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
  // Some have their cards at addresses of their own making.
  const named = namedPlaces(own).map((path) => ({ url: new URL(path, base.origin), isAbove: false }));
  return own === "" && given.search === "" ? places : [...places, ...named, { url: given, isAbove: false }];
}

/** VoltAgent and others serve the card of the agent at `/X/a2a/{id}` at `/X/.well-known/{id}/agent-card.json`. */
function namedPlaces(path: string): readonly string[] {
  const [, above, id] = /^(.*)\/a2a\/([^/]+)$/.exec(path) ?? [];
  return above === undefined || id === undefined ? [] : [`${above}/.well-known/${id}/agent-card.json`];
}

/** Whether that is a card's address by its looks. */
function isCardAddress({ pathname }: URL): boolean {
  return pathname.endsWith(".json") || pathname.includes("/.well-known/");
}

/** `/a/b/c` → `/a/b`, `/a`, and nothing; at most as many as are looked at. */
function pathsAbove(path: string): readonly string[] {
  const paths: string[] = [];
  for (let end = path.lastIndexOf("/"); end !== -1 && paths.length < MAX_LEVELS; end = path.lastIndexOf("/", end - 1)) {
    paths.push(path.slice(0, end).replace(/\/$/, ""));
    if (end === 0) break;
  }
  return paths;
}

/**
 * Whether an agent with these interfaces is the one at that address: it is reached there or below, or the address is below
 * one of its own. An interface at the root tells nothing, for everything is below that.
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
