import { describe, expect, it } from "vitest";
import type { SecurityRequirement } from "../protocol/card.ts";
import { judge, type MetSchemes } from "./security-requirements.ts";

const either: readonly SecurityRequirement[] = [{ key: [] }, { token: ["read"] }];
const both: readonly SecurityRequirement[] = [{ key: [], token: ["read", "write"] }];

describe("Requirements, of which any one must be met, each with all that it names", () => {
  it.each<[string, readonly SecurityRequirement[], MetSchemes, object]>([
    ["none are met by anybody", [], {}, { kind: "met", by: {} }],
    ["one that asks for nothing is met by anybody", [{ key: [] }, {}], {}, { kind: "met", by: {} }],
    ["one that is met goes before one that asks for nothing", [{}, { key: [] }], { key: [] }, { by: { key: [] } }],
    ["the first that is met counts", either, { key: ["x"], token: ["read"] }, { by: { key: [] } }],
    ["the second will do", either, { token: ["read", "write"] }, { by: { token: ["read"] } }],
    ["a scheme without its scope will not do", either, { token: ["write"] }, { kind: "scopes", missing: ["read"] }],
    ["a scheme that nobody asked for will not do", either, { other: ["read"] }, { kind: "schemes" }],
    ["nothing will not do", either, {}, { kind: "schemes" }],
    ["of two that are asked for one will not do", both, { token: ["read", "write"] }, { kind: "schemes" }],
    ["nor will the other", both, { key: [] }, { kind: "schemes" }],
    ["both will do", both, { key: [], token: ["write", "read"] }, { kind: "met" }],
    [
      "both without all scopes will not do",
      both,
      { key: [], token: ["read"] },
      { kind: "scopes", schemes: ["key", "token"], missing: ["write"] },
    ],
    ["a name that objects have is no scheme", [{ toString: [] }], {}, { kind: "schemes" }],
    ["scopes of another scheme do not count", both, { key: ["read", "write"], token: [] }, { kind: "scopes" }],
  ])("%s", (...[, requirements, met, judgement]) => {
    expect(judge(requirements, met)).toMatchObject(judgement);
  });
});
