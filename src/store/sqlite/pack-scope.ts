import type { Scope } from "../../protocol/principal.ts";
import type { PackedValue } from "./packed.ts";

/** The number of a scope, if it has one yet. */
export type ScopeNumber = (scope: Scope) => number | undefined;

export function packScope(packed: PackedValue[], scope: Scope, numberOf: ScopeNumber): void {
  const number = numberOf(scope);
  if (number === undefined) packed.push(null, scope.agent, scope.tenant, scope.owner);
  else packed.push(number);
}
