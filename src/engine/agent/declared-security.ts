import { isRecord } from "./declared-value.ts";

type Members = Readonly<Record<string, unknown>>;

/** A2A 1.0 cards wrap each scheme in a member of its own; the value is the `type` of the flat form (OpenAPI, A2A 0.x). */
const WRAPPERS = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
} as const;

/** Converts security schemes to the flat form; a card may use either form, or both. Invalid values are left for the validation. */
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
  // Each form supports flows that the other one does not have.
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

/** Converts requirements to `{ name: scopes }`, from this form or from `{ schemes: { name: { list } } }` (A2A 1.0). */
export function flatRequirements(requirements: unknown): unknown {
  return Array.isArray(requirements) ? requirements.map(flatRequirement) : requirements;
}

function flatRequirement(requirement: unknown): unknown {
  // If "schemes" is the name of a scheme, its value is a list of scopes.
  if (!isRecord(requirement) || !isRecord(requirement["schemes"])) return requirement;
  const named = Object.entries(requirement["schemes"]);
  return Object.fromEntries(named.map(([name, scopes]) => [name, isRecord(scopes) ? (scopes["list"] ?? []) : scopes]));
}
