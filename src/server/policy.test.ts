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
    ["for all calls is satisfied", { scopes: ["read"] }, true],
    ["fails without a required scope", { scopes: ["read", "write"] }, false],
    ["for another agent does not apply", { agent: "other", scopes: ["write"] }, true],
    ["for this agent applies", { agent: ["other", "accounts"], scopes: ["write"] }, false],
    ["for another operation does not apply", { operation: ["send", "stream"], scopes: ["write"] }, true],
    ["for this operation applies", { operation: "get", scopes: ["write"] }, false],
    ["for another tenant does not apply", { tenant: "globex", scopes: ["write"] }, true],
    ["for this tenant applies", { tenant: "acme", scopes: ["write"] }, false],
    ["for a skill does not apply before the skill is known", { skill: "audit", scopes: ["write"] }, true],
    ["is satisfied by a claim", { claims: { role: "clerk" } }, true],
    ["is satisfied by one of several values", { claims: { role: ["chief", "clerk"], level: 3 } }, true],
    ["is satisfied by a value in a list", { claims: { groups: "b" } }, true],
    ["fails with another value", { claims: { role: "chief" } }, false],
    ["fails with a value of another type", { claims: { level: "3" } }, false],
    ["fails without a required claim", { claims: { toString: "x" } }, false],
  ])("%s", (_, policy, holds) => {
    expect(policyFailure([policy], get, ada) === undefined).toBe(holds);
  });

  it("for a skill applies once the skill is known, and policies without a skill do not apply again", () => {
    const policies: readonly Policy[] = [{ scopes: ["write"] }, { skill: "audit", scopes: ["audit"] }];
    const send = { ...get, operation: "send" } as const;
    expect(policyFailure(policies, { ...send, skill: "audit" }, ada)).toEqual({ scopes: ["audit"] });
    expect(policyFailure(policies, { ...send, skill: "other" }, ada)).toBeUndefined();
  });

  it("must be satisfied together with all others, and each missing scope is reported once", () => {
    const policies: readonly Policy[] = [{ scopes: ["read"] }, { scopes: ["b", "read"] }, { scopes: ["b", "c"] }];
    expect(policyFailure(policies, get, ada)).toEqual({ scopes: ["b", "c"] });
  });
});

describe("policyProblems()", () => {
  it.each<[string, object, RegExp]>([
    ["requires nothing", { operation: "get" }, /at least one scope or claim/],
    ["has an empty list of scopes", { scopes: [] }, /at least one scope or claim/],
    ["is for an unknown operation", { operation: ["get", "cancle"], scopes: ["x"] }, /"cancle" must be one of send/],
    ["has scopes that are not a list", { scopes: "pay" }, /scopes: must be a list/],
    ["has an unknown member", { skills: "pay", scopes: ["pay"] }, /skills: is not a member of policies/],
  ])("reports a policy that %s", (_, policy, problem) => {
    expect([...policyProblems(policy as Policy)].join()).toMatch(problem);
  });

  it("reports nothing for a valid policy", () => {
    expect([...policyProblems({ operation: "get", scopes: ["a"], claims: { b: 1 } })]).toEqual([]);
  });
});
