import { describe, expect, it } from "vitest";
import type { Principal } from "../protocol/principal.ts";
import { type Policy, type PolicySubject, policyFailure, policyProblems } from "./policy.ts";

const ada: Principal = {
  id: "ada",
  anonymous: false,
  scopes: ["read"],
  claims: { role: "clerk", groups: ["a", "b"], level: 3 },
};
const get: PolicySubject = { agent: "accounts", operation: "get", tenant: "acme" };

describe("A policy", () => {
  it.each<[string, Policy, boolean]>([
    ["for all calls holds", { scopes: ["read"] }, true],
    ["fails for want of a scope", { scopes: ["read", "write"] }, false],
    ["for another agent is not asked", { agent: "other", scopes: ["write"] }, true],
    ["for this agent is", { agent: ["other", "accounts"], scopes: ["write"] }, false],
    ["for another operation is not asked", { operation: ["send", "stream"], scopes: ["write"] }, true],
    ["for this operation is", { operation: "get", scopes: ["write"] }, false],
    ["for another tenant is not asked", { tenant: "globex", scopes: ["write"] }, true],
    ["for this tenant is", { tenant: "acme", scopes: ["write"] }, false],
    ["for a skill is not asked before the skill is known", { skill: "audit", scopes: ["write"] }, true],
    ["holds by a claim", { claims: { role: "clerk" } }, true],
    ["holds by one of several values", { claims: { role: ["chief", "clerk"], level: 3 } }, true],
    ["holds by a value in a list", { claims: { groups: "b" } }, true],
    ["fails by another value", { claims: { role: "chief" } }, false],
    ["fails by a value of another type", { claims: { level: "3" } }, false],
    ["fails for want of a claim", { claims: { toString: "x" } }, false],
  ])("%s", (_, policy, holds) => {
    expect(policyFailure([policy], get, ada) === undefined).toBe(holds);
  });

  it("for a skill is asked once the skill is known, and then those for all are not asked again", () => {
    const policies: readonly Policy[] = [{ scopes: ["write"] }, { skill: "audit", scopes: ["audit"] }];
    const send = { ...get, operation: "send" } as const;
    expect(policyFailure(policies, { ...send, skill: "audit" }, ada)).toEqual({ scopes: ["audit"] });
    expect(policyFailure(policies, { ...send, skill: "other" }, ada)).toBeUndefined();
  });

  it("must hold together with all others for the call, and what is missing is told once", () => {
    const policies: readonly Policy[] = [{ scopes: ["read"] }, { scopes: ["b", "read"] }, { scopes: ["b", "c"] }];
    expect(policyFailure(policies, get, ada)).toEqual({ scopes: ["b", "c"] });
  });
});

describe("A policy that would protect nothing", () => {
  it.each<[string, object, RegExp]>([
    ["asks for nothing", { operation: "get" }, /must ask for something/],
    ["asks for no scopes", { scopes: [] }, /must ask for something/],
    ["is for an operation that is none", { operation: ["get", "cancle"], scopes: ["x"] }, /"cancle" is none of send/],
    ["has scopes that are no list", { scopes: "pay" }, /scopes: must be a list/],
    ["has a member that is none", { skills: "pay", scopes: ["pay"] }, /skills: policies have no such member/],
  ])("%s, and is told so", (_, policy, problem) => {
    expect([...policyProblems(policy as Policy)].join()).toMatch(problem);
  });

  it("is none of the others", () => {
    expect([...policyProblems({ operation: "get", scopes: ["a"], claims: { b: 1 } })]).toEqual([]);
  });
});
