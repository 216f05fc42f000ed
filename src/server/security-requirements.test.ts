import { describe, expect, it } from "vitest";
import type { SecurityRequirement } from "../protocol/card.ts";
import { checkRequirements, type MetSchemes } from "./security-requirements.ts";

const either: readonly SecurityRequirement[] = [{ key: [] }, { token: ["read"] }];
const both: readonly SecurityRequirement[] = [{ key: [], token: ["read", "write"] }];

describe("checkRequirements(): one requirement must be met with all its schemes and scopes", () => {
  it.each<[string, readonly SecurityRequirement[], MetSchemes, object]>([
    ["no requirements are met by every request", [], {}, { kind: "met", by: {} }],
    ["the empty requirement is met by every request", [{ key: [] }, {}], {}, { kind: "met", by: {} }],
    ["a met requirement takes precedence over the empty one", [{}, { key: [] }], { key: [] }, { by: { key: [] } }],
    ["the first met requirement is used", either, { key: ["x"], token: ["read"] }, { by: { key: [] } }],
    ["the second requirement is met", either, { token: ["read", "write"] }, { by: { token: ["read"] } }],
    [
      "a scheme without a required scope does not suffice",
      either,
      { token: ["write"] },
      { kind: "scopes", missing: ["read"] },
    ],
    ["a scheme that is not required does not suffice", either, { other: ["read"] }, { kind: "schemes" }],
    ["a request without credentials fails", either, {}, { kind: "schemes" }],
    ["one of two required schemes does not suffice", both, { token: ["read", "write"] }, { kind: "schemes" }],
    ["the other of two required schemes does not suffice", both, { key: [] }, { kind: "schemes" }],
    ["both required schemes suffice", both, { key: [], token: ["write", "read"] }, { kind: "met" }],
    [
      "both without all scopes will not do",
      both,
      { key: [], token: ["read"] },
      { kind: "scopes", schemes: ["key", "token"], missing: ["write"] },
    ],
    ["a member that every object has is not a scheme", [{ toString: [] }], {}, { kind: "schemes" }],
    ["scopes of another scheme do not count", both, { key: ["read", "write"], token: [] }, { kind: "scopes" }],
  ])("%s", (...[, requirements, met, result]) => {
    expect(checkRequirements(requirements, met)).toMatchObject(result);
  });
});
