import type { Verified } from "../auth/verify/contract.ts";
import type { RefusalReason } from "../auth/verify/refusal.ts";
import type { SecurityRequirement } from "../protocol/card.ts";

/** The schemes for which a request has valid credentials, each with the scopes they grant. */
export type MetSchemes = Readonly<Record<string, readonly string[]>>;

/**
 * The result of checking requirements. `met`: by this requirement. `scopes`: all schemes of a requirement are met, but these scopes are
 * missing. `schemes`: credentials are missing.
 */
export type RequirementResult =
  | { readonly kind: "met"; readonly by: SecurityRequirement }
  | { readonly kind: "scopes"; readonly schemes: readonly string[]; readonly missing: readonly string[] }
  | { readonly kind: "schemes" };

/**
 * Checks requirements: one of them must be met, with all its schemes and all their scopes. A requirement with schemes takes precedence over
 * the empty one, so that callers with credentials are not anonymous. An empty list is met by every request.
 */
export function checkRequirements(requirements: readonly SecurityRequirement[], met: MetSchemes): RequirementResult {
  if (requirements.length === 0) return { kind: "met", by: {} };
  let nearest: RequirementResult = { kind: "schemes" };
  let open: SecurityRequirement | undefined;
  for (const requirement of requirements) {
    const schemes = Object.keys(requirement);
    if (schemes.length === 0) open = requirement;
    else if (schemes.every((scheme) => Object.hasOwn(met, scheme))) {
      const missing = schemes.flatMap((scheme) => missingScopes(requirement[scheme] ?? [], met[scheme] ?? []));
      if (missing.length === 0) return { kind: "met", by: requirement };
      if (nearest.kind === "schemes") nearest = { kind: "scopes", schemes, missing: [...new Set(missing)] };
    }
  }
  return open === undefined ? nearest : { kind: "met", by: open };
}

function missingScopes(required: readonly string[], granted: readonly string[]): readonly string[] {
  return required.filter((scope) => !granted.includes(scope));
}

/** The result of verifying a request by one scheme. */
export type SchemeResult =
  | { readonly kind: "absent" }
  | { readonly kind: "valid"; readonly verified: Verified }
  | { readonly kind: "invalid"; readonly reason: RefusalReason }
  | { readonly kind: "unverifiable"; readonly error: unknown };

/** The schemes with valid credentials. */
export function metSchemes(shown: ReadonlyMap<string, SchemeResult>): MetSchemes {
  const met: Record<string, readonly string[]> = {};
  for (const [name, result] of shown) if (result.kind === "valid") met[name] = result.verified.scopes;
  return met;
}
