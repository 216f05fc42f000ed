import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { isSupportedInterface } from "../../wire/client/client-registry.ts";
import { PLAIN_BINDING } from "../../wire/plain/binding.ts";
import { RemoteError } from "../http/errors.ts";

/** Which interface of a card to use. */
export interface InterfaceOptions {
  /** Use only this binding: `JSONRPC`, `HTTP+JSON`, `GRPC` (Node only), `plain`, or the URI of a binding. Default: any supported one. */
  readonly binding?: string;
  /** Use only this protocol version, as `Major.Minor`. Default: any supported one. */
  readonly version?: string;
  /** Bindings or versions to prefer, best first. Default: the card's order. */
  readonly prefer?: readonly string[];
  /** Unfinished versions to use, and to prefer, if the card offers them: `1.1`. Naming one in `version` allows it too. Default: none. */
  readonly preview?: readonly string[];
}

/** How many interfaces of a card are tried. A card may list thousands. */
export const MAX_INTERFACES = 8;

/** The interfaces to try, best first. The later ones are used if the first cannot be reached. */
export type InterfaceChoice = readonly [AgentInterface, ...AgentInterface[]];

/**
 * The supported interfaces of a card that match the options: preferred ones first, then in the card's order, at most 8. Throws `no-interface`, with
 * the interfaces that the card offers, if none matches.
 */
export function chooseInterface(card: AgentCard, options: InterfaceOptions = {}): InterfaceChoice {
  const { binding, version, preview = [] } = options;
  const prefer = [...(options.prefer ?? []), ...preview];
  const allowed = version === undefined ? preview : [...preview, version];
  const wanted = card.interfaces.filter(
    (way) => (binding === undefined || hasBinding(way, binding)) && (version === undefined || hasVersion(way, version)),
  );
  const rank = (way: AgentInterface): number => {
    const index = prefer.findIndex((name) => hasBinding(way, name) || hasVersion(way, name));
    return index < 0 ? prefer.length : index;
  };
  // Sorting is stable: within a rank, the card's order stays.
  const [first, ...others] = wanted
    .filter((way) => isSupportedInterface(way, allowed))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_INTERFACES);
  if (first === undefined) throw noInterface(card, options, wanted);
  return [first, ...others];
}

function hasBinding(way: AgentInterface, name: string): boolean {
  return bare(way.binding) === bare(name) || (way.binding === PLAIN_BINDING && bare(name) === "PLAIN");
}

function hasVersion(way: AgentInterface, version: string): boolean {
  // The version of the plain dialect is not a protocol version.
  if (way.binding === PLAIN_BINDING) return bare(version) === "PLAIN";
  return way.protocolVersion === (/^\d+\.\d+/.exec(version)?.[0] ?? version);
}

/** The name of a binding without case and separators, in which cards differ. */
function bare(binding: string): string {
  const name = binding.toUpperCase().replaceAll(/[-_+\s]/g, "");
  return name === "REST" ? "HTTPJSON" : name;
}

/** Names what the agent offers, because the caller can then change `binding` or `version`. */
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
      ? `The agent "${name}" offers no supported interface`
      : wanted.length === 0
        ? `The agent "${name}" does not offer ${asked}`
        : `The agent "${name}" offers ${asked}, which is not supported`;
  return new RemoteError("no-interface", `${reason}. It offers ${offers || "nothing"}.`);
}
