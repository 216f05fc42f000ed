import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { OPERATIONS, type Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";

type OneOrMore<T> = T | readonly T[];

/**
 * What callers need for certain calls. The first members say which calls it is for, all where absent; the last two what must hold of the
 * caller. Policies with a `skill` are for messages, once it is known which skill takes them.
 */
export interface Policy {
  readonly agent?: OneOrMore<string>;
  readonly skill?: OneOrMore<string>;
  readonly operation?: OneOrMore<Operation>;
  readonly tenant?: OneOrMore<string>;
  /** All of these. */
  readonly scopes?: readonly string[];
  /** Each of these claims must have this value, or one of these; a claim that is a list must hold one. */
  readonly claims?: Readonly<Record<string, OneOrMore<string | number | boolean>>>;
}

const MEMBERS: ReadonlySet<string> = new Set(["agent", "skill", "operation", "tenant", "scopes", "claims"]);

/** What is wrong with a policy, by the member it is wrong in: one that never applies, or asks for nothing, protects nothing. */
export function* policyProblems(policy: Policy): Iterable<string> {
  const { operation, scopes = [], claims = {} } = policy;
  for (const name of Object.keys(policy)) if (!MEMBERS.has(name)) yield `${name}: policies have no such member.`;
  for (const name of named(operation)) {
    if (!OPERATIONS.includes(name)) yield `operation: ${JSON.stringify(name)} is none of ${OPERATIONS.join(", ")}.`;
  }
  const areTexts = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string" && scope !== "");
  if (!areTexts) yield "scopes: must be a list of texts.";
  if (typeof claims !== "object" || claims === null) yield "claims: must be an object.";
  else if (areTexts && scopes.length === 0 && Object.keys(claims).length === 0) {
    yield "scopes, claims: it must ask for something of callers.";
  }
}

/** What is named, as a list. */
export function named<T>(value: OneOrMore<T> | undefined): readonly T[] {
  if (value === undefined) return [];
  // Safe: what is no list is one value.
  return Array.isArray(value) ? value : [value as T];
}

/** One call, as policies tell calls apart. */
export interface PolicySubject {
  readonly agent: string;
  readonly operation: Operation;
  readonly tenant: string;
  /** Absent before it is known. */
  readonly skill?: string;
}

/** What a caller lacks. */
export interface PolicyFailure {
  readonly scopes: readonly string[];
}

/** What the caller lacks of what the policies for this call want; `undefined`: nothing. */
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
  // Before the skill is known those apply that name none, and afterwards the others.
  if ((skill === undefined) !== (subject.skill === undefined)) return false;
  return (
    includes(agent, subject.agent) &&
    includes(operation, subject.operation) &&
    includes(tenant, subject.tenant) &&
    (subject.skill === undefined || includes(skill, subject.skill))
  );
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

/** Whether a value is among those named; all are where none is. */
function includes<T>(listed: OneOrMore<T> | undefined, value: T): boolean {
  return listed === undefined || named(listed).includes(value);
}
