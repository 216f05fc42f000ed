import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OLDER_FLOWS, PLANNER } from "../test/cards.ts";
import { decodeCard, cardObject as newerCardObject } from "../v0_3/card.ts";
import { cardObject, encodeCard } from "./card.ts";
import { card, SAMPLES } from "./test/models.ts";

describe("A 0.2 card", () => {
  it("is the card of 0.3 with protocolVersion 0.2.6 and without members that 0.3 added", () => {
    expect(JSON.parse(encodeCard(PLANNER))).toEqual({
      ...newerCardObject(PLANNER),
      protocolVersion: "0.2.6",
      url: "https://a/old",
      additionalInterfaces: [{ url: "https://a/old", transport: "JSONRPC" }],
      skills: [{ id: "s", name: "S", description: "Does S.", tags: ["t"], examples: ["e"] }],
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "x-key", description: "A key" },
        login: { type: "oauth2", flows: OLDER_FLOWS },
      },
    });
  });

  it("has only the public members of a skill", () => {
    const skills = PLANNER.skills.map((skill) => ({ ...skill, run: "secret" }));
    expect(JSON.stringify(cardObject({ ...PLANNER, skills }))).not.toContain("secret");
  });

  it("decodes to the encoded value", () => {
    fc.assert(
      fc.property(card, (source) => {
        expect(decodeCard(JSON.parse(encodeCard(source)), "0.2")).toEqual(source);
      }),
      SAMPLES,
    );
  });

  it("has the version 0.2 if it has no protocolVersion", () => {
    expect(decodeCard({ name: "N", url: "https://a" }, "0.2").interfaces).toEqual([
      { url: "https://a", binding: "JSONRPC", protocolVersion: "0.2" },
    ]);
  });
});
