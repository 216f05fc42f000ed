import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, isWireObject, member } from "../fields/fields.ts";

/** How to authenticate, as this version's cards say it: names of schemes, and one text for what else must be known. */
export interface WireAuthentication {
  readonly schemes: readonly string[];
  readonly credentials?: string;
}

/** What the card requires; or all that it declares, where it does not say. `undefined`: nothing that this version has a name for. */
export function authenticationOf({ securitySchemes, security }: AgentCard): WireAuthentication | undefined {
  const declared = new Map(Object.entries(securitySchemes ?? {}));
  const required = security === undefined ? declared.keys() : security.flatMap((names) => Object.keys(names));
  const used = [...new Set(required)].flatMap((name) => declared.get(name) ?? []);
  const schemes = [...new Set(used.flatMap(schemeName))];
  if (schemes.length === 0) return undefined;
  const key = used.find((scheme) => scheme.type === "apiKey");
  return { schemes, ...(key !== undefined && { credentials: JSON.stringify({ in: key.in, name: key.name }) }) };
}

function schemeName(scheme: SecurityScheme): string | [] {
  switch (scheme.type) {
    case "http":
      return `${scheme.scheme.charAt(0).toUpperCase()}${scheme.scheme.slice(1)}`;
    case "apiKey":
      return "ApiKey";
    case "oauth2":
      return "OAuth2";
    case "openIdConnect":
      // What its callers send in the end.
      return "Bearer";
    case "mutualTLS":
      return [];
  }
}

/** What an agent's card says of it; each scheme by its own name, any one of which will do. */
export function decodeAuthentication(value: unknown): Pick<AgentCard, "securitySchemes" | "security"> {
  const wire = asObject(value, "authentication");
  const names = listOf(member(wire, "schemes"), "authentication.schemes", textOf);
  if (names.length === 0) return {};
  const credentials = detailsOf(member(wire, "credentials"));
  return {
    securitySchemes: Object.fromEntries(names.map((name) => [name, decodeScheme(name, credentials)])),
    security: names.map((name) => Object.fromEntries([[name, []]])),
  };
}

function decodeScheme(name: string, { in: place, name: keyName }: KeyDetails): SecurityScheme {
  const known = name.toLowerCase();
  if (known === "apikey") return { type: "apiKey", in: place, name: keyName };
  if (known === "oauth2") return { type: "oauth2", flows: {} };
  return { type: "http", scheme: known };
}

interface KeyDetails {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
}

/** Free text, in which some write JSON. */
function detailsOf(credentials: unknown): KeyDetails {
  const details = parsed(credentials);
  const { in: place, name } = isWireObject(details) ? details : {};
  return {
    in: place === "query" || place === "cookie" ? place : "header",
    name: typeof name === "string" && name !== "" ? name : "X-API-Key",
  };
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Text that is no JSON tells nothing that a program could use.
    return undefined;
  }
}
