import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../../src/protocol/card.ts";
import { A2AError } from "../../../src/protocol/error.ts";
import { dialectSettings } from "../../../src/wire/options.ts";
import { BARE_CARD } from "../../../src/wire/test/cards.ts";
import { cardObject } from "../../../src/wire/v0_2/card.ts";
import { createRpcClientCodec } from "../../../src/wire/v0_2/client-codec.ts";
import { createRpcCodec } from "../../../src/wire/v0_2/codec.ts";
import { OUTPUT_FORMAT } from "../../../src/wire/v0_2/format.ts";
import { decodePart } from "../../../src/wire/v0_3/part.ts";
import { LOSS_NAMES, LOSSES } from "./v0-2.ts";
import { LOSS_NAMES as NEWER_NAMES } from "./v0-3.ts";

const client = createRpcClientCodec();
const card: AgentCard = {
  ...BARE_CARD,
  skills: [{ id: "s", name: "S", description: "", tags: [], security: [{ certificate: [] }] }],
  securitySchemes: {
    certificate: { type: "mutualTLS" },
    login: { type: "oauth2", flows: {}, oauth2MetadataUrl: "https://a/meta" },
  },
  security: [{ certificate: [] }, { login: [] }],
};

/** Losses of 0.2 besides those of 0.3, each with a check. */
const SHOWN: Readonly<Record<string, () => void>> = {
  otherData: () => {
    const wire = OUTPUT_FORMAT.part({ data: [1], metadata: { a: 1 } });
    expect(wire).toEqual({ kind: "text", text: "[1]", metadata: { a: 1, data_part_compat: true } });
    expect(decodePart(wire, "p")).toEqual({ data: [1], metadata: { a: 1 } });
    expect(decodePart({ ...wire, text: "no JSON" }, "p")).toMatchObject({ text: "no JSON" });
  },
  listing: () => {
    const list = { operation: "list", tenant: "", pageSize: 100, artifacts: true, history: undefined } as const;
    expect(() => client.encodeRequest(list)).toThrow("has no operation");
  },
  certificates: () => {
    expect(Object.keys(cardObject(card).securitySchemes ?? {})).toEqual(["login"]);
    expect(cardObject(card).security).toEqual(card.security);
  },
  authorizationMetadata: () => {
    expect(cardObject(card).securitySchemes).toEqual({ login: { type: "oauth2", flows: {} } });
  },
  skillSecurity: () => {
    expect(cardObject(card).skills).toEqual([{ id: "s", name: "S", description: "", tags: [] }]);
  },
  extendedCard: () => {
    expect(() => client.encodeRequest({ operation: "extended-card", tenant: "" })).toThrow("has no operation");
    const error = new A2AError("extended-card-not-configured", "No");
    expect(JSON.parse(createRpcCodec(dialectSettings({})).encodeError(error))).toMatchObject({
      code: -32004,
      data: { reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" },
    });
  },
};

describe("Information lost in 0.2", () => {
  it("includes everything lost in 0.3", () => {
    expect([...new Set([...NEWER_NAMES, ...Object.keys(SHOWN)])]).toEqual(LOSS_NAMES);
  });

  it.each(Object.entries(SHOWN))("is documented and true: %s", (name, shows) => {
    expect(Object.keys(LOSSES)).toContain(name);
    shows();
  });
});
