import { isWireObject, type WireObject } from "../fields/fields.ts";
import { SCHEME_WRAPPERS } from "../v1_0/security.ts";

/** Converts security schemes to the flat form; a card may use either form, or both. Invalid values are left for the validation. */
export function flatSchemes(schemes: unknown): unknown {
  if (!isWireObject(schemes)) return schemes;
  return Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, flatScheme(scheme)]));
}

function flatScheme(scheme: unknown): unknown {
  if (!isWireObject(scheme)) return scheme;
  const unwrapped = SCHEME_WRAPPERS.map(([member, , type]) => unwrap(scheme[member], type));
  const wrapped = unwrapped.find((found) => found !== undefined);
  const flat = Object.fromEntries(Object.entries(scheme).filter(([member]) => !isWrapper(member)));
  if (wrapped === undefined) return flat;
  const merged = { ...wrapped, ...flat };
  // Each form supports flows that the other one does not have.
  return isWireObject(wrapped["flows"]) && isWireObject(flat["flows"])
    ? { ...merged, flows: mergedFlows(wrapped["flows"], flat["flows"]) }
    : merged;
}

function isWrapper(member: string): boolean {
  return SCHEME_WRAPPERS.some(([wrapper]) => wrapper === member);
}

function unwrap(content: unknown, type: string): WireObject | undefined {
  if (!isWireObject(content)) return undefined;
  const { location, ...rest } = content;
  return { type, ...rest, ...(location !== undefined && { in: location }) };
}

function mergedFlows(wrapped: WireObject, flat: WireObject): WireObject {
  const merged: Record<string, unknown> = { ...wrapped };
  for (const [name, flow] of Object.entries(flat)) {
    const other = wrapped[name];
    merged[name] = isWireObject(other) && isWireObject(flow) ? { ...other, ...flow } : flow;
  }
  return merged;
}

/** Converts requirements to `{ name: scopes }`, from this form or from `{ schemes: { name: { list } } }` (A2A 1.0). */
export function flatRequirements(requirements: unknown): unknown {
  return Array.isArray(requirements) ? requirements.map(flatRequirement) : requirements;
}

function flatRequirement(requirement: unknown): unknown {
  // If "schemes" is the name of a scheme, its value is a list of scopes.
  if (!isWireObject(requirement) || !isWireObject(requirement["schemes"])) return requirement;
  const named = Object.entries(requirement["schemes"]);
  return Object.fromEntries(
    named.map(([name, scopes]) => [name, isWireObject(scopes) ? (scopes["list"] ?? []) : scopes]),
  );
}
