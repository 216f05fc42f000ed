import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { isSupportedInterface } from "../../wire/client/client-registry.ts";
import { PLAIN_BINDING } from "../../wire/plain/binding.ts";
import { RemoteError } from "../http/errors.ts";

export interface InterfaceOptions {
  /** No other binding than this: `JSONRPC`, `HTTP+JSON`, `plain`, or the URI of one. */
  readonly binding?: string;
  /** No other version of the protocol than this, as `Major.Minor`. */
  readonly version?: string;
  /** Bindings or versions to be tried before the others, best first. */
  readonly prefer?: readonly string[];
}

/** How many interfaces of one card are tried. A card may list thousands. */
export const MAX_INTERFACES = 8;

/** The ways in, best first: what is preferred, then as the card has them. The others are for when the first cannot be reached. */
export type InterfaceChoice = readonly [AgentInterface, ...AgentInterface[]];

/**
 * The interfaces of a card that can be spoken to and are as wanted. Throws `no-interface`, with what the card offers, where there
 * are none. Gives at most 8: no more of a card's interfaces are tried.
 */
export function chooseInterface(card: AgentCard, options: InterfaceOptions = {}): InterfaceChoice {
  const { binding, version, prefer = [] } = options;
  const wanted = card.interfaces.filter(
    (way) => (binding === undefined || hasBinding(way, binding)) && (version === undefined || hasVersion(way, version)),
  );
  const rank = (way: AgentInterface): number => {
    const index = prefer.findIndex((name) => hasBinding(way, name) || hasVersion(way, name));
    return index < 0 ? prefer.length : index;
  };
  // Sorting is stable: within a rank, the card's order stays.
  const [first, ...others] = wanted
    .filter(isSupportedInterface)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_INTERFACES);
  if (first === undefined) throw noInterface(card, options, wanted);
  return [first, ...others];
}

function hasBinding(way: AgentInterface, name: string): boolean {
  return bare(way.binding) === bare(name) || (way.binding === PLAIN_BINDING && bare(name) === "PLAIN");
}

function hasVersion(way: AgentInterface, version: string): boolean {
  // The plain dialect has an edition of its own, which is no version of the protocol.
  if (way.binding === PLAIN_BINDING) return bare(version) === "PLAIN";
  return way.protocolVersion === (/^\d+\.\d+/.exec(version)?.[0] ?? version);
}

/** Names of bindings without the marks in which spellings differ. */
function bare(binding: string): string {
  const name = binding.toUpperCase().replaceAll(/[-_+\s]/g, "");
  return name === "REST" ? "HTTPJSON" : name;
}

function noInterface(
  { name, interfaces }: AgentCard,
  { binding, version }: InterfaceOptions,
  wanted: readonly AgentInterface[],
): RemoteError {
  const asked = [version && `version ${version}`, binding && `binding ${binding}`].filter(Boolean).join(" and ");
  const listed = interfaces
    .slice(0, MAX_INTERFACES)
    .map((way) => `${way.protocolVersion} ${way.binding} at ${way.url}`);
  const offers = [...listed, ...(interfaces.length > MAX_INTERFACES ? ["others"] : [])].join(", ");
  const reason =
    asked === ""
      ? `The agent "${name}" offers nothing that is spoken here`
      : wanted.length === 0
        ? `The agent "${name}" does not offer ${asked}`
        : `The agent "${name}" offers ${asked}, but that is not spoken here`;
  return new RemoteError("no-interface", `${reason}. It offers ${offers || "nothing"}.`);
}
