import {
  OAUTH_FLOWS,
  type OAuthFlow,
  type OAuthFlowName,
  type SecurityRequirement,
  type SecurityScheme,
} from "../../protocol/card.ts";
import { listOf, mapOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalBoolean, optionalString, type WireObject } from "../fields/fields.ts";

/**
 * A security scheme, wrapped in a member that names its kind (A2A 1.0 §4.5.1):
 * `{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}`.
 */
export type WireScheme = Readonly<Record<string, object>>;

/** Schemes that a caller must all satisfy, each with its scopes. */
export interface WireRequirement {
  readonly schemes: Readonly<Record<string, { readonly list: readonly string[] }>>;
}

type FlowMember = keyof OAuthFlow;

/** The members of each OAuth flow in 1.0. `implicit` and `password` are deprecated. */
const FLOW_MEMBERS: Readonly<Record<OAuthFlowName, readonly FlowMember[]>> = {
  authorizationCode: ["authorizationUrl", "tokenUrl", "refreshUrl", "scopes", "pkceRequired"],
  clientCredentials: ["tokenUrl", "refreshUrl", "scopes"],
  deviceCode: ["deviceAuthorizationUrl", "tokenUrl", "refreshUrl", "scopes"],
  implicit: ["authorizationUrl", "refreshUrl", "scopes"],
  password: ["tokenUrl", "refreshUrl", "scopes"],
};

/**
 * Encodes a security scheme: `{ type: "apiKey", in: "header", name }` becomes `{ apiKeySecurityScheme: { location: "header", name } }`.
 *
 * In 1.0 an OAuth scheme has exactly one flow (A2A 1.0 §4.5.7): of several declared flows, the first in the order of `OAUTH_FLOWS` is
 * written. To publish all flows, declare one scheme per flow.
 */
export function encodeScheme(scheme: SecurityScheme): WireScheme {
  const { description } = scheme;
  const shared = description === undefined ? {} : { description };
  switch (scheme.type) {
    case "apiKey":
      return { apiKeySecurityScheme: { ...shared, location: scheme.in, name: scheme.name } };
    case "http": {
      const { bearerFormat } = scheme;
      return {
        httpAuthSecurityScheme: {
          ...shared,
          scheme: scheme.scheme,
          ...(bearerFormat !== undefined && { bearerFormat }),
        },
      };
    }
    case "oauth2": {
      const { oauth2MetadataUrl } = scheme;
      return {
        oauth2SecurityScheme: {
          ...shared,
          flows: encodeFlow(scheme.flows),
          ...(oauth2MetadataUrl !== undefined && { oauth2MetadataUrl }),
        },
      };
    }
    case "openIdConnect":
      return { openIdConnectSecurityScheme: { ...shared, openIdConnectUrl: scheme.openIdConnectUrl } };
    case "mutualTLS":
      return { mtlsSecurityScheme: shared };
  }
}

/**
 * `{ clientCredentials: { tokenUrl, scopes: {} } }` stays as it is; of two flows only the first is written.
 */
function encodeFlow(flows: Partial<Readonly<Record<OAuthFlowName, OAuthFlow>>>): object {
  for (const name of OAUTH_FLOWS) {
    const flow = flows[name];
    if (flow === undefined) continue;
    const members = FLOW_MEMBERS[name].filter((member) => flow[member] !== undefined);
    return { [name]: Object.fromEntries(members.map((member) => [member, flow[member]])) };
  }
  return {};
}

/** `{ key: ["read"] }` becomes `{ schemes: { key: { list: ["read"] } } }`. */
export function encodeRequirement(requirement: SecurityRequirement): WireRequirement {
  const schemes = Object.entries(requirement).map(([name, list]) => [name, { list }] as const);
  return { schemes: Object.fromEntries(schemes) };
}

/**
 * Decodes a scheme of an agent's card: wrapped in a member that names its kind (1.0), or flat with `type` (0.x). `undefined` for an unknown
 * kind.
 */
export function decodeScheme(value: unknown, path: string): SecurityScheme | undefined {
  const wire = asObject(value, path);
  for (const [name, alias, type] of SCHEME_WRAPPERS) {
    const wrapped = member(wire, name, alias);
    if (wrapped !== undefined) return schemeOf(type, asObject(wrapped, `${path}.${name}`), `${path}.${name}`);
  }
  return schemeOf(member(wire, "type"), wire, path);
}

/** The member that wraps a scheme in 1.0, its name in ProtoJSON, and the `type` of the flat form (OpenAPI, A2A 0.x). */
export const SCHEME_WRAPPERS = [
  ["apiKeySecurityScheme", "api_key_security_scheme", "apiKey"],
  ["httpAuthSecurityScheme", "http_auth_security_scheme", "http"],
  ["oauth2SecurityScheme", "oauth2_security_scheme", "oauth2"],
  ["openIdConnectSecurityScheme", "open_id_connect_security_scheme", "openIdConnect"],
  ["mtlsSecurityScheme", "mtls_security_scheme", "mutualTLS"],
] as const;

/** Every kind may have a description. */
function schemeOf(type: unknown, wire: WireObject, path: string): SecurityScheme | undefined {
  const description = optionalString(member(wire, "description"), `${path}.description`);
  const scheme = kindOfScheme(type, wire, path);
  return scheme === undefined || description === undefined ? scheme : { ...scheme, description };
}

function kindOfScheme(type: unknown, wire: WireObject, path: string): SecurityScheme | undefined {
  switch (type) {
    case "apiKey": {
      const location = member(wire, "location", "in") ?? "header";
      const known = LOCATIONS.find((each) => each === location);
      return known && { type, in: known, name: textOf(member(wire, "name"), `${path}.name`) };
    }
    case "http": {
      const bearerFormat = optionalString(member(wire, "bearerFormat", "bearer_format"), `${path}.bearerFormat`);
      const scheme = textOf(member(wire, "scheme"), `${path}.scheme`);
      return { type, scheme, ...(bearerFormat !== undefined && { bearerFormat }) };
    }
    case "oauth2": {
      const metadataUrl = member(wire, "oauth2MetadataUrl", "oauth2_metadata_url");
      const oauth2MetadataUrl = optionalString(metadataUrl, `${path}.oauth2MetadataUrl`);
      const flows = decodeFlows(asObject(member(wire, "flows") ?? {}, `${path}.flows`), `${path}.flows`);
      return { type, flows, ...(oauth2MetadataUrl !== undefined && { oauth2MetadataUrl }) };
    }
    case "openIdConnect": {
      const url = member(wire, "openIdConnectUrl", "open_id_connect_url");
      return { type, openIdConnectUrl: textOf(url, `${path}.openIdConnectUrl`) };
    }
    case "mutualTLS":
      return { type };
    default:
      return undefined;
  }
}

/** Where an API key can be; a scheme with any other place is left out. */
const LOCATIONS = ["header", "query", "cookie"] as const;

/** Reads several flows, which cards of 0.x may have. */
function decodeFlows(wire: WireObject, path: string): Partial<Record<OAuthFlowName, OAuthFlow>> {
  const flows: Partial<Record<OAuthFlowName, OAuthFlow>> = {};
  for (const name of OAUTH_FLOWS) {
    const flow = member(wire, name, snakeCase(name));
    if (flow !== undefined) flows[name] = decodeFlow(asObject(flow, `${path}.${name}`), `${path}.${name}`);
  }
  return flows;
}

function decodeFlow(wire: WireObject, path: string): OAuthFlow {
  const url = (name: string): string | undefined =>
    optionalString(member(wire, name, snakeCase(name)), `${path}.${name}`);
  const authorizationUrl = url("authorizationUrl");
  const deviceAuthorizationUrl = url("deviceAuthorizationUrl");
  const tokenUrl = url("tokenUrl");
  const refreshUrl = url("refreshUrl");
  const pkceRequired = optionalBoolean(member(wire, "pkceRequired", "pkce_required"), `${path}.pkceRequired`);
  return {
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(deviceAuthorizationUrl !== undefined && { deviceAuthorizationUrl }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(refreshUrl !== undefined && { refreshUrl }),
    scopes: mapOf(member(wire, "scopes"), `${path}.scopes`, textOf),
    ...(pkceRequired !== undefined && { pkceRequired }),
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Decodes a requirement: `{"schemes":{"key":{"list":[]}}}` (1.0), or `{"key":[]}` as in OpenAPI (0.x). */
export function decodeRequirement(value: unknown, path: string): SecurityRequirement {
  const wire = asObject(value, path);
  const { schemes } = wire;
  const isFlat = schemes === undefined || Array.isArray(schemes);
  return mapOf(isFlat ? wire : schemes, path, (scopes, at) => {
    return listOf(Array.isArray(scopes) ? scopes : asObject(scopes, at)["list"], at, textOf);
  });
}
