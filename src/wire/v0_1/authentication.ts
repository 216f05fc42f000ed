import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, isWireObject, member } from "../fields/fields.ts";

/** The member `authentication` of a 0.1 card: scheme names, and one text with further details (A2A 0.1 §5.5.3). It holds no secrets. */
export interface WireAuthentication {
  readonly schemes: readonly string[];
  readonly credentials?: string;
}

/**
 * The required schemes of a card, or all declared ones if the card has no requirements. `undefined` if 0.1 has no name for any.
 * `{ key: { type: "apiKey", in: "header", name: "X-Key" } }` becomes `{ schemes: ["ApiKey"], credentials: '{"in":"header","name":"X-Key"}' }`.
 */
export function authenticationOf({ securitySchemes, security }: AgentCard): WireAuthentication | undefined {
  const declared = new Map(Object.entries(securitySchemes ?? {}));
  const required = security === undefined ? declared.keys() : security.flatMap((names) => Object.keys(names));
  const used = [...new Set(required)].flatMap((name) => declared.get(name) ?? []);
  const schemes = [...new Set(used.flatMap(schemeName))];
  if (schemes.length === 0) return undefined;
  const key = used.find((scheme) => scheme.type === "apiKey");
  return { schemes, ...(key !== undefined && { credentials: JSON.stringify({ in: key.in, name: key.name }) }) };
}

/** `bearer` becomes `Bearer`, as 0.1 writes it. An empty list: 0.1 has no name for the scheme. */
function schemeName(scheme: SecurityScheme): string | [] {
  switch (scheme.type) {
    case "http":
      return `${scheme.scheme.charAt(0).toUpperCase()}${scheme.scheme.slice(1)}`;
    case "apiKey":
      return "ApiKey";
    case "oauth2":
      return "OAuth2";
    case "openIdConnect":
      // Callers send a bearer token in the end.
      return "Bearer";
    case "mutualTLS":
      return [];
  }
}

/**
 * Decodes `authentication`. The caller may use any one of the schemes.
 * `{"schemes":["Bearer"]}` becomes `{ securitySchemes: { Bearer: { type: "http", scheme: "bearer" } }, security: [{ Bearer: [] }] }`.
 */
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

/** Where an API key is sent. Default: the header `X-API-Key`. */
interface KeyDetails {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
}

/** `credentials` is free text; some agents write JSON with the place and name of an API key. */
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
    // Text that is not JSON is for people.
    return undefined;
  }
}
