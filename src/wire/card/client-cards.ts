// Reads cards of agents in every version. A card may mix versions (see `hybrid-card.ts`), so each version's members are looked for
// separately, and the interfaces that are found are merged into one list.

import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeCard as decodeCard0_1 } from "../v0_1/card.ts";
import { decodeCard as decodeCard0_3 } from "../v0_3/card.ts";
import { decodeCard as decodeCard1_0 } from "../v1_0/card.ts";

/** The `A2A-Version` of card requests: cards of 1.0 can list interfaces of all versions. */
export const CARD_VERSION = "1.0";

/** Paths of agent cards, relative to the agent's URL: since 0.3, and before 0.3. */
export const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;
const [, EARLY_PATH] = CARD_PATHS;

/** A decoded agent card. */
export interface ParsedCard {
  /** The URLs of its interfaces are absolute, and each interface is listed once. */
  readonly card: AgentCard;
  /** Violations of the specification that do not prevent calls. */
  readonly warnings: readonly FieldViolation[];
}

/** An interface, and the field of the card that names its URL, for errors and warnings. */
interface FoundInterface {
  readonly field: string;
  readonly at: AgentInterface;
}

/**
 * Decodes a card of any version, or of several versions at once. The result has the interfaces of all versions that the card names; if it
 * names none, those of the versions that write such cards, the most likely first. `fetchedFrom` is the card's own URL: the base of relative
 * URLs, and a hint to tell 0.1 from 0.2. Throws an `A2AError` of code `invalid-agent-response` that names all missing or invalid fields
 * without which the agent cannot be called.
 */
export function readCard(value: unknown, fetchedFrom?: string): ParsedCard {
  const wire = withinCard(() => asObject(value, "card"));
  // All versions decode everything but the interfaces alike; the decoder of 0.1 also reads `authentication`.
  const shared = withinCard(() => decodeCard0_1(wire));
  const places = withinCard(() => [...newerPlaces(wire), ...olderPlaces(wire, fetchedFrom)]);
  const faults: FieldViolation[] = [];
  const interfaces = validInterfaces(places, fetchedFrom, faults);
  const fatal = [
    ...(shared.name === "" ? [{ field: "name", description: "is required" }] : []),
    ...(interfaces.length > 0 ? [] : noInterfaces(faults)),
  ];
  if (fatal.length > 0) throw unreadable(fatal);
  return { card: { ...shared, interfaces }, warnings: [...faults, ...missing(shared, wire)] };
}

/** The agent is at fault, not the caller: an invalid field makes the card unusable. */
function withinCard<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof A2AError && thrown.code === "invalid-params" ? unreadable(thrown.violations) : thrown;
  }
}

function unreadable(violations: readonly FieldViolation[]): A2AError {
  const faults = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new A2AError("invalid-agent-response", `The agent card cannot be used: ${faults}`, { violations });
}

function newerPlaces(wire: WireObject): FoundInterface[] {
  const { interfaces } = decodeCard1_0(wire);
  return interfaces.map((at, index) => ({ field: `supportedInterfaces[${index}].url`, at }));
}

/** The interfaces in the members of 0.x, which hybrid cards have too. */
function olderPlaces(wire: WireObject, fetchedFrom: string | undefined): FoundInterface[] {
  if (textOf(member(wire, "url"), "url") === "") return [];
  return olderVersions(wire, fetchedFrom).flatMap((version) => {
    const { interfaces } = version === "0.1" ? decodeCard0_1(wire) : decodeCard0_3(wire, version);
    return interfaces.map((listed, index) => {
      const at = { ...listed, protocolVersion: version };
      return { field: index === 0 ? "url" : additionalField(wire, at.url), at };
    });
  });
}

/** The field name of a URL in `additionalInterfaces`. */
function additionalField(wire: WireObject, url: string): string {
  const listed = member(wire, "additionalInterfaces");
  const index = Array.isArray(listed) ? listed.findIndex((entry) => isWireObject(entry) && entry["url"] === url) : -1;
  return `additionalInterfaces[${Math.max(index, 0)}].url`;
}

/**
 * The versions whose methods the `url` of a card accepts, the most likely first. A card with `authentication` is of 0.1. A card without
 * `protocolVersion` may be of 0.1 or 0.2; the URL from which it was fetched tells which is more likely.
 */
function olderVersions(wire: WireObject, fetchedFrom: string | undefined): readonly string[] {
  const has0_1Authentication = member(wire, "authentication") !== undefined;
  const [version] = /^\d+\.\d+/.exec(textOf(member(wire, "protocolVersion"), "protocolVersion")) ?? [];
  // Some servers declare 0.1 but have only the methods of later versions, so 0.2 is tried next.
  if (version === "0.1") return ["0.1", "0.2"];
  if (version !== undefined) return has0_1Authentication ? [version, "0.1"] : [version];
  const isEarly = fetchedFrom !== undefined && pathOf(fetchedFrom).endsWith(EARLY_PATH);
  if (hasAny(wire, ["preferredTransport", "securitySchemes"]))
    return has0_1Authentication || isEarly ? ["0.2", "0.1"] : ["0.2"];
  // 0.1 has this member too, but it is optional there and mostly omitted.
  if (hasAny(wire, ["defaultInputModes"])) return ["0.2", "0.1"];
  return isEarly ? ["0.1", "0.2"] : ["0.2", "0.1"];
}

function hasAny(wire: WireObject, names: readonly string[]): boolean {
  return names.some((name) => member(wire, name) !== undefined);
}

function pathOf(address: string): string {
  return URL.canParse(address) ? new URL(address).pathname : "";
}

/** The valid interfaces, each once. Problems of the others are added to `faults`. */
function validInterfaces(
  places: readonly FoundInterface[],
  base: string | undefined,
  faults: FieldViolation[],
): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { field, at } of places) {
    const binding = bindingOf(at.binding);
    // URLs of gRPC interfaces have other formats, and this client does not use them.
    const url = binding === "GRPC" ? at.url : webAddress(at.url, base);
    if (url === undefined) {
      faults.push({ field, description: "must be an http or https URL without user and password" });
      continue;
    }
    const found = {
      ...at,
      url,
      binding,
      protocolVersion: /^\d+$/.test(at.protocolVersion) ? `${at.protocolVersion}.0` : at.protocolVersion,
    };
    const key = JSON.stringify([trimmed(url), binding, found.protocolVersion, at.tenant ?? ""]);
    if (!interfaces.has(key)) interfaces.set(key, found);
  }
  return [...interfaces.values()];
}

/** The standard name of a core binding, whatever notation the card uses. */
function bindingOf(name: string): string {
  switch (name.toUpperCase().replaceAll(/[^A-Z]/g, "")) {
    case "":
    case "JSONRPC":
      return "JSONRPC";
    case "HTTPJSON":
    case "REST":
      return "HTTP+JSON";
    case "GRPC":
      return "GRPC";
    default:
      return name;
  }
}

/** `undefined` for a URL that the client must not call. User and password in a URL would be sent as credentials that nobody configured. */
function webAddress(address: string, base: string | undefined): string | undefined {
  if (address === "" || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || url.username !== "" || url.password !== "") return undefined;
  // An absolute URL stays unchanged: a trailing slash, or its absence, may matter to the server.
  return URL.canParse(address) ? address : url.href;
}

function trimmed(url: string): string {
  return withoutTrailing(url, "/");
}

function noInterfaces(faults: readonly FieldViolation[]): readonly FieldViolation[] {
  return faults.length > 0 ? faults : [{ field: "supportedInterfaces", description: "is required, or url instead" }];
}

/** Members that every version requires, but clients do not need. */
function missing(card: AgentCard, wire: WireObject): FieldViolation[] {
  const absent = (["version", "description"] as const).filter((name) => card[name] === "");
  const undefinedMembers = (["capabilities", "skills"] as const).filter((name) => member(wire, name) === undefined);
  return [...absent, ...undefinedMembers].map((field) => ({ field, description: "is required" }));
}
