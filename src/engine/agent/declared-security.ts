import { isRecord } from "./declared-value.ts";

type Members = Readonly<Record<string, unknown>>;

/** The member that wraps each kind of scheme, where cards wrap them, and the flat kind it stands for. */
const WRAPPERS = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
} as const;

/** Security schemes in the flat spelling, whichever of the two a card has, or both. What is neither is left for the check to refuse. */
export function flatSchemes(schemes: unknown): unknown {
  if (!isRecord(schemes)) return schemes;
  return Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, flatScheme(scheme)]));
}

function flatScheme(scheme: unknown): unknown {
  if (!isRecord(scheme)) return scheme;
  const unwrapped = Object.entries(WRAPPERS).map(([member, type]) => unwrap(scheme[member], type));
  const wrapped = unwrapped.find((found) => found !== undefined);
  const flat = Object.fromEntries(Object.entries(scheme).filter(([member]) => !Object.hasOwn(WRAPPERS, member)));
  if (wrapped === undefined) return flat;
  const merged = { ...wrapped, ...flat };
  // Each spelling knows flows the other has no room for.
  return isRecord(wrapped["flows"]) && isRecord(flat["flows"])
    ? { ...merged, flows: mergedFlows(wrapped["flows"], flat["flows"]) }
    : merged;
}

function unwrap(content: unknown, type: string): Members | undefined {
  if (!isRecord(content)) return undefined;
  const { location, ...rest } = content;
  return { type, ...rest, ...(location !== undefined && { in: location }) };
}

function mergedFlows(wrapped: Members, flat: Members): Members {
  const merged: Record<string, unknown> = { ...wrapped };
  for (const [name, flow] of Object.entries(flat)) {
    const other = wrapped[name];
    merged[name] = isRecord(other) && isRecord(flow) ? { ...other, ...flow } : flow;
  }
  return merged;
}

/** Requirements as lists of scopes by scheme, from that spelling or from `{ schemes: { name: { list } } }`. */
export function flatRequirements(requirements: unknown): unknown {
  return Array.isArray(requirements) ? requirements.map(flatRequirement) : requirements;
}

function flatRequirement(requirement: unknown): unknown {
  // A scheme may itself be called "schemes": then its scopes are a list.
  if (!isRecord(requirement) || !isRecord(requirement["schemes"])) return requirement;
  const named = Object.entries(requirement["schemes"]);
  return Object.fromEntries(named.map(([name, scopes]) => [name, isRecord(scopes) ? (scopes["list"] ?? []) : scopes]));
}
