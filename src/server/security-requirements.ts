import type { Verified } from "../auth/verify/contract.ts";
import type { SecurityRequirement } from "../protocol/card.ts";

/** The schemes that a request has met, by name, each with the scopes it grants. */
export type MetSchemes = Readonly<Record<string, readonly string[]>>;

/**
 * How requirements fare: `met` by one of them; else what is missing of the nearest one, be it scopes of schemes that are met
 * (`scopes`) or schemes themselves.
 */
export type Judgement =
  | { readonly kind: "met"; readonly by: SecurityRequirement }
  | { readonly kind: "scopes"; readonly schemes: readonly string[]; readonly missing: readonly string[] }
  | { readonly kind: "schemes" };

/**
 * Any one of the requirements must be met, and of that one every scheme with all its scopes. One that asks for something is preferred to
 * one that asks for nothing, so that callers who say who they are are known. No requirements at all are met by everybody.
 */
export function judge(requirements: readonly SecurityRequirement[], met: MetSchemes): Judgement {
  if (requirements.length === 0) return { kind: "met", by: {} };
  let nearest: Judgement = { kind: "schemes" };
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

/** What a request has shown for one scheme. */
export type Shown =
  | { readonly kind: "nothing" }
  | { readonly kind: "holds"; readonly verified: Verified }
  | { readonly kind: "bad" }
  | { readonly kind: "unknown"; readonly error: unknown };

/** The schemes that hold, as requirements look at them. */
export function metSchemes(shown: ReadonlyMap<string, Shown>): MetSchemes {
  const met: Record<string, readonly string[]> = {};
  for (const [name, result] of shown) if (result.kind === "holds") met[name] = result.verified.scopes;
  return met;
}
