import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { dialectSettings } from "../options.ts";
import { itReadsAnswers } from "../v0_3/test/answers.ts";
import { createRpcClientCodec } from "./client-codec.ts";
import { createRpcCodec } from "./codec.ts";
import { card, rpcRequest, SAMPLES } from "./test/models.ts";

const server = createRpcCodec(dialectSettings({}));
const strict = createRpcCodec(dialectSettings({ lenient: false }));
const client = createRpcClientCodec();

describe("A 0.2 client", () => {
  it("has its version and dialect", () => {
    expect(client).toMatchObject({ dialect: "0.2/jsonrpc", version: "0.2" });
  });

  it("is decoded by the server codec, also with strict parsing", () => {
    fc.assert(
      fc.property(rpcRequest, (asked) => {
        const { method, params } = client.encodeRequest(asked);
        for (const codec of [server, strict]) {
          expect(codec.operationOf(method)).toBe(asked.operation);
          expect(codec.decodeRequest(asked.operation, JSON.parse(params))).toEqual(asked);
        }
      }),
      { ...SAMPLES, numRuns: sampled(40, 300) },
    );
  });

  it.each(["list", "extended-card"] as const)("has no method for: %s", (operation) => {
    const request = { operation, tenant: "", pageSize: 1, artifacts: true, history: undefined } as const;
    expect(() => client.encodeRequest(request)).toThrow(expect.objectContaining({ code: "unsupported-operation" }));
  });
});

describe("An answer of 0.2", () => {
  itReadsAnswers({ server, client, card });
});
