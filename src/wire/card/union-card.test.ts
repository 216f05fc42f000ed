import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../protocol/card.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { cardObject as cardObject0_1 } from "../v0_1/card.ts";
import { cardObject as cardObject0_2 } from "../v0_2/card.ts";
import { cardObject as cardObject0_3, decodeCard as decodeCard0_3 } from "../v0_3/card.ts";
import { card, SAMPLES } from "../v1_0/test/models.ts";
import { encodeUnionCard } from "./union-card.ts";

const ALL = { "0.3": true, "0.2": true, "0.1": true };
const base = "https://a.example/a2a";

/** As a server declares it, with the same URL in all these versions. */
function served(declared: AgentCard): AgentCard {
  const interfaces = ["0.3", "0.2", "0.1"].map((protocolVersion) => ({
    url: base,
    binding: "JSONRPC",
    protocolVersion,
  }));
  return { ...declared, interfaces };
}

function parsed(card: object): JsonObject {
  return JSON.parse(JSON.stringify(card));
}

describe("A card for readers of 0.1, 0.2 and 0.3", () => {
  it("is the card of 0.3 with the member authentication of 0.1", () => {
    fc.assert(
      fc.property(card.map(served), (declared) => {
        const { authentication, ...rest } = JSON.parse(encodeUnionCard(declared, ALL));
        expect(rest).toEqual(parsed(cardObject0_3(declared)));
        expect(authentication).toEqual(parsed(cardObject0_1(declared))["authentication"]);
        expect(decodeCard0_3(rest)).toEqual(decodeCard0_3(parsed(cardObject0_3(declared))));
      }),
      SAMPLES,
    );
  });

  it("contains every member of the cards of 0.2 and 0.1, with their values unless 0.3 has more", () => {
    fc.assert(
      fc.property(card.map(served), (declared) => {
        const union: JsonObject = JSON.parse(encodeUnionCard(declared, ALL));
        const { protocolVersion: _edition, ...older } = parsed(cardObject0_2(declared));
        expect(union).toMatchObject(older);
        expect(union).toMatchObject(parsed(cardObject0_1(declared)));
      }),
      SAMPLES,
    );
  });

  it("omits members of versions that the server does not support", () => {
    fc.assert(
      fc.property(card.map(served), (declared) => {
        const union = (supported: Partial<typeof ALL>): unknown =>
          JSON.parse(encodeUnionCard(declared, { "0.3": false, "0.2": false, "0.1": false, ...supported }));
        expect(union({ "0.3": true })).toEqual(parsed(cardObject0_3(declared)));
        expect(union({ "0.2": true })).toEqual(parsed(cardObject0_2(declared)));
        expect(union({ "0.1": true })).toEqual(parsed(cardObject0_1(declared)));
        expect(union({ "0.2": true, "0.1": true })).toMatchObject(parsed(cardObject0_2(declared)));
      }),
      { ...SAMPLES, numRuns: 50 },
    );
  });
});
