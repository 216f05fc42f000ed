import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { OPERATIONS, type Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";

type OneOrMore<T> = T | readonly T[];

/**
 * What callers need for certain calls. `agent`, `skill`, `operation` and `tenant` select the calls (absent: all); `scopes` and `claims` are
 * required of the caller. A policy with a `skill` applies to messages, once the skill that handles them is known.
 */
export interface Policy {
  readonly agent?: OneOrMore<string>;
  readonly skill?: OneOrMore<string>;
  readonly operation?: OneOrMore<Operation>;
  readonly tenant?: OneOrMore<string>;
  /** Scopes that the caller must have, all of them. */
  readonly scopes?: readonly string[];
  /** Claims that the caller must have, each with this value or one of these values. A list claim must contain one of them. */
  readonly claims?: Readonly<Record<string, OneOrMore<string | number | boolean>>>;
}

const MEMBERS: ReadonlySet<string> = new Set(["agent", "skill", "operation", "tenant", "scopes", "claims"]);

/** The errors in a policy, each beginning with the wrong member. A policy that never applies or requires nothing protects nothing. */
export function* policyProblems(policy: Policy): Iterable<string> {
  const { operation, scopes = [], claims = {} } = policy;
  for (const name of Object.keys(policy)) if (!MEMBERS.has(name)) yield `${name}: is not a member of policies.`;
  for (const name of named(operation)) {
    if (!OPERATIONS.includes(name)) yield `operation: ${JSON.stringify(name)} must be one of ${OPERATIONS.join(", ")}.`;
  }
  const areTexts = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string" && scope !== "");
  if (!areTexts) yield "scopes: must be a list of non-empty strings.";
  if (typeof claims !== "object" || claims === null) yield "claims: must be an object.";
  else if (areTexts && scopes.length === 0 && Object.keys(claims).length === 0) {
    yield "scopes, claims: at least one scope or claim must be required.";
  }
}

/** The values as a list; empty if absent. */
export function named<T>(value: OneOrMore<T> | undefined): readonly T[] {
  if (value === undefined) return [];
  // Safe: a value that is not a list is a single value.
  return Array.isArray(value) ? value : [value as T];
}

/** The properties of a call by which policies select it. */
export interface PolicySubject {
  readonly agent: string;
  readonly operation: Operation;
  readonly tenant: string;
  /** Absent until the skill is known. */
  readonly skill?: string;
}

/** What a caller lacks to satisfy the policies. */
export interface PolicyFailure {
  readonly scopes: readonly string[];
}

/** What the caller lacks to satisfy the policies for this call; `undefined` if nothing. */
export function policyFailure(
  policies: readonly Policy[],
  subject: PolicySubject,
  principal: Principal,
): PolicyFailure | undefined {
  const failed = policies.filter((policy) => isFor(policy, subject) && !holds(policy, principal));
  if (failed.length === 0) return undefined;
  const { scopes: granted = [] } = principal;
  const lacking = failed.flatMap(({ scopes = [] }) => scopes.filter((scope) => !granted.includes(scope)));
  return { scopes: [...new Set(lacking)] };
}

function isFor({ agent, skill, operation, tenant }: Policy, subject: PolicySubject): boolean {
  // Until the skill is known, policies without a skill apply; then those with one.
  if ((skill === undefined) !== (subject.skill === undefined)) return false;
  return (
    includes(agent, subject.agent) &&
    includes(operation, subject.operation) &&
    includes(tenant, subject.tenant) &&
    (subject.skill === undefined || includes(skill, subject.skill))
  );
}

/** Whether a caller has the scopes and claims that a policy requires, whichever call it is about. */
export function policyAllows(policy: Pick<Policy, "scopes" | "claims">, principal: Principal): boolean {
  return holds(policy, principal);
}

function holds({ scopes = [], claims = {} }: Policy, principal: Principal): boolean {
  const { scopes: granted = [] } = principal;
  return (
    scopes.every((scope) => granted.includes(scope)) &&
    Object.entries(claims).every(([name, wanted]) => claimHolds(claimOf(principal.claims, name), wanted))
  );
}

function claimOf(claims: JsonObject | undefined, name: string): JsonValue | undefined {
  return claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function claimHolds(claim: JsonValue | undefined, wanted: OneOrMore<string | number | boolean>): boolean {
  const values: readonly JsonValue[] = claim === undefined ? [] : Array.isArray(claim) ? claim : [claim];
  return values.some((value) => includes<JsonValue>(wanted, value));
}

/** True if the value is listed, or if nothing is listed. */
function includes<T>(listed: OneOrMore<T> | undefined, value: T): boolean {
  return listed === undefined || named(listed).includes(value);
}
