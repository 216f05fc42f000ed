import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeCard as decodeCard0_1 } from "../v0_1/card.ts";
import { decodeCard as decodeCard0_3 } from "../v0_3/card.ts";
import { decodeCard as decodeCard1_0 } from "../v1_0/card.ts";

/** The version to ask for a card in: the newest, whose cards name the ways in of all the others. */
export const CARD_VERSION = "1.0";

/** Where agents have their cards, below their own address: first as 0.3 has it, then as the versions before. */
export const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;
const [, EARLY_PATH] = CARD_PATHS;

/** A card as far as it could be understood. */
export interface ParsedCard {
  /** The addresses of its interfaces are absolute, and each interface is listed once. */
  readonly card: AgentCard;
  /** What is wrong with it and does no harm. */
  readonly warnings: readonly FieldViolation[];
}

interface Place {
  readonly field: string;
  readonly at: AgentInterface;
}

/**
 * Reads a card of any version, or of several at once. Its interfaces are those of every version it names; where it names none, those
 * of the versions that write such cards, the likeliest first. `fetchedFrom` is the card's own address, which relative addresses
 * start at and which tells early versions apart. Throws an `A2AError` of code `invalid-agent-response` that names all fields
 * without which the agent cannot be called.
 */
export function readCard(value: unknown, fetchedFrom?: string): ParsedCard {
  const wire = withinCard(() => asObject(value, "card"));
  // What is not about interfaces, all readers read alike; this one knows how 0.1 says how to authenticate, besides.
  const shared = withinCard(() => decodeCard0_1(wire));
  const places = withinCard(() => [...newerPlaces(wire), ...olderPlaces(wire, fetchedFrom)]);
  const faults: FieldViolation[] = [];
  const interfaces = placed(places, fetchedFrom, faults);
  const fatal = [
    ...(shared.name === "" ? [{ field: "name", description: "is required" }] : []),
    ...(interfaces.length > 0 ? [] : noInterfaces(faults)),
  ];
  if (fatal.length > 0) throw unreadable(fatal);
  return { card: { ...shared, interfaces }, warnings: [...faults, ...missing(shared, wire)] };
}

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

function newerPlaces(wire: WireObject): Place[] {
  const { interfaces } = decodeCard1_0(wire);
  return interfaces.map((at, index) => ({ field: `supportedInterfaces[${index}].url`, at }));
}

/** The ways in that cards of 0.x have, which newer ones may have as well. */
function olderPlaces(wire: WireObject, fetchedFrom: string | undefined): Place[] {
  if (textOf(member(wire, "url"), "url") === "") return [];
  return olderVersions(wire, fetchedFrom).flatMap((version) => {
    const { interfaces } = version === "0.1" ? decodeCard0_1(wire) : decodeCard0_3(wire, version);
    return interfaces.map((listed, index) => {
      const at = { ...listed, protocolVersion: version };
      return { field: index === 0 ? "url" : additionalField(wire, at.url), at };
    });
  });
}

/** Where that address stands among the additional ones. */
function additionalField(wire: WireObject, url: string): string {
  const listed = member(wire, "additionalInterfaces");
  const index = Array.isArray(listed) ? listed.findIndex((entry) => isWireObject(entry) && entry["url"] === url) : -1;
  return `additionalInterfaces[${Math.max(index, 0)}].url`;
}

/**
 * Which version's methods the `url` of a card takes. What has its own way to say how to authenticate is of 0.1; one that says nothing of
 * its version may be of 0.1 or of 0.2, and the address it was found at tells which is likelier.
 */
function olderVersions(wire: WireObject, fetchedFrom: string | undefined): readonly string[] {
  const has0_1Authentication = member(wire, "authentication") !== undefined;
  const [version] = /^\d+\.\d+/.exec(textOf(member(wire, "protocolVersion"), "protocolVersion")) ?? [];
  // Some cards say 0.1 of servers that know the methods of later versions only: those are tried next.
  if (version === "0.1") return ["0.1", "0.2"];
  if (version !== undefined) return has0_1Authentication ? [version, "0.1"] : [version];
  const isEarly = fetchedFrom !== undefined && pathOf(fetchedFrom).endsWith(EARLY_PATH);
  if (hasAny(wire, ["preferredTransport", "securitySchemes"]))
    return has0_1Authentication || isEarly ? ["0.2", "0.1"] : ["0.2"];
  // Both versions have it; but the earlier one can do without, and mostly does.
  if (hasAny(wire, ["defaultInputModes"])) return ["0.2", "0.1"];
  return isEarly ? ["0.1", "0.2"] : ["0.2", "0.1"];
}

function hasAny(wire: WireObject, names: readonly string[]): boolean {
  return names.some((name) => member(wire, name) !== undefined);
}

function pathOf(address: string): string {
  return URL.canParse(address) ? new URL(address).pathname : "";
}

/** The interfaces that can be called, each once. What is wrong with the others is added to `faults`. */
function placed(places: readonly Place[], base: string | undefined, faults: FieldViolation[]): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { field, at } of places) {
    const binding = bindingOf(at.binding);
    // Addresses of gRPC have forms of their own, and are nothing to this client.
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

/** Core bindings by the one name they have, however they are spelt. */
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

function webAddress(address: string, base: string | undefined): string | undefined {
  if (address === "" || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || url.username !== "" || url.password !== "") return undefined;
  // One that is absolute stays as it was written: servers may care for a slash at its end, or the want of one.
  return URL.canParse(address) ? address : url.href;
}

function trimmed(url: string): string {
  return withoutTrailing(url, "/");
}

function noInterfaces(faults: readonly FieldViolation[]): readonly FieldViolation[] {
  return faults.length > 0
    ? faults
    : [{ field: "supportedInterfaces", description: "is required, or url in its place" }];
}

/** What every version requires, and callers can do without. */
function missing(card: AgentCard, wire: WireObject): FieldViolation[] {
  const absent = (["version", "description"] as const).filter((name) => card[name] === "");
  const left = (["capabilities", "skills"] as const).filter((name) => member(wire, name) === undefined);
  return [...absent, ...left].map((field) => ({ field, description: "is required" }));
}
