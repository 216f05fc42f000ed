import { OAUTH_FLOWS, type OAuthFlowName, type SecurityScheme } from "../../protocol/card.ts";
import { isRecord, isText, isUrl } from "./declared-value.ts";

type SchemeType = SecurityScheme["type"];

/** Required strings of each type of scheme. */
const TEXTS: Readonly<Record<SchemeType, readonly string[]>> = {
  apiKey: ["name"],
  http: ["scheme"],
  oauth2: [],
  openIdConnect: [],
  mutualTLS: [],
};

/** Required URLs of each OAuth flow. */
const FLOW_URLS: Readonly<Record<OAuthFlowName, readonly string[]>> = {
  authorizationCode: ["authorizationUrl", "tokenUrl"],
  clientCredentials: ["tokenUrl"],
  deviceCode: ["deviceAuthorizationUrl", "tokenUrl"],
  implicit: ["authorizationUrl"],
  password: ["tokenUrl"],
};

const KEY_PLACES: readonly unknown[] = ["header", "query", "cookie"];

/** The problems of an agent's `securitySchemes`, one sentence each. */
export function schemeProblems(schemes: unknown): readonly string[] {
  if (schemes === undefined) return [];
  if (!isRecord(schemes)) return ["`securitySchemes` must be an object: the schemes by name."];
  return Object.entries(schemes).flatMap(([name, scheme]) => problemsOf(`securitySchemes.${name}`, scheme));
}

/**
 * The problems of security requirements, one sentence each. If the agent declares no schemes, the names refer to schemes of the server, which checks
 * them when it starts.
 */
export function securityProblems(place: string, requirements: unknown, schemes: unknown): readonly string[] {
  if (requirements === undefined) return [];
  if (!Array.isArray(requirements)) return [`\`${place}\` must be a list such as [{ "name of a scheme": [] }].`];
  const known = isRecord(schemes) ? Object.keys(schemes) : [];
  return requirements.flatMap((requirement: unknown, index) => {
    const at = `${place}[${index}]`;
    if (!isRecord(requirement)) return [`\`${at}\` must be an object: scopes by the name of the scheme.`];
    return Object.entries(requirement).flatMap(([name, scopes]) => {
      const problems: string[] = [];
      if (known.length > 0 && !known.includes(name)) {
        const there = known.join(", ");
        problems.push(
          `\`${at}\` names the scheme ${JSON.stringify(name)}, which \`securitySchemes\` does not define (defined: ${there}).`,
        );
      }
      if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string"))
        problems.push(`\`${at}.${name}\` must be a list of scopes, [] for none.`);
      return problems;
    });
  });
}

function problemsOf(place: string, scheme: unknown): readonly string[] {
  if (!isRecord(scheme)) return [`\`${place}\` must be an object.`];
  const { type } = scheme;
  if (!isSchemeType(type)) return [`\`${place}.type\` must be one of ${Object.keys(TEXTS).join(", ")}.`];
  const problems = TEXTS[type].filter((field) => !isText(scheme[field])).map((field) => missingText(place, field));
  if (type === "apiKey" && !KEY_PLACES.includes(scheme["in"]))
    problems.push(`\`${place}.in\` must be one of ${KEY_PLACES.join(", ")}.`);
  if (type === "openIdConnect") problems.push(...urlProblems(place, scheme, ["openIdConnectUrl"]));
  if (type === "oauth2") {
    problems.push(...flowProblems(`${place}.flows`, scheme["flows"]));
    if (scheme["oauth2MetadataUrl"] !== undefined) problems.push(...urlProblems(place, scheme, ["oauth2MetadataUrl"]));
  }
  return problems;
}

function flowProblems(place: string, flows: unknown): readonly string[] {
  if (!isRecord(flows) || Object.keys(flows).length === 0)
    return [`\`${place}\` must have at least one of ${OAUTH_FLOWS.join(", ")}.`];
  return Object.entries(flows).flatMap(([name, flow]) => {
    const at = `${place}.${name}`;
    if (!isFlowName(name)) return [`\`${at}\` is not an OAuth flow; use ${OAUTH_FLOWS.join(", ")}.`];
    if (!isRecord(flow)) return [`\`${at}\` must be an object.`];
    const { scopes } = flow;
    const hasScopes = isRecord(scopes) && Object.values(scopes).every((meaning) => typeof meaning === "string");
    return [
      ...urlProblems(at, flow, FLOW_URLS[name]),
      ...(hasScopes ? [] : [`\`${at}.scopes\` must be an object: what each scope means, {} for none.`]),
    ];
  });
}

function urlProblems(place: string, holder: Readonly<Record<string, unknown>>, fields: readonly string[]): string[] {
  return fields
    .filter((field) => !isUrl(holder[field]))
    .map((field) => `\`${place}.${field}\` must be an absolute URL.`);
}

function missingText(place: string, field: string): string {
  return `\`${place}.${field}\` must be a non-empty string.`;
}

function isSchemeType(value: unknown): value is SchemeType {
  return typeof value === "string" && Object.hasOwn(TEXTS, value);
}

function isFlowName(value: string): value is OAuthFlowName {
  return Object.hasOwn(FLOW_URLS, value);
}
