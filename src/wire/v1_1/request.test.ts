import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRequest as decodeOlder } from "../v1_0/request.ts";
import { SAMPLES } from "../v1_0/test/models.ts";
import { decodeRequest } from "./request.ts";
import { paramsOf } from "./rest-request.ts";

const message = { messageId: "m", taskId: "t", role: "ROLE_USER", parts: [{ text: "x" }] };

describe("A request of 1.1", () => {
  it("is decoded as in 1.0 if it has no generation", () => {
    expect(decodeRequest("get", { id: "t" })).toEqual(decodeOlder("get", { id: "t" }));
    for (const operation of ["send", "stream"] as const) {
      expect(decodeRequest(operation, { message })).toEqual(decodeOlder(operation, { message }));
    }
    // ProtoJSON: null equals absent.
    expect(decodeRequest("get", { id: "t", currentGeneration: null })).toEqual(decodeOlder("get", { id: "t" }));
  });

  it("has the seq before the generation, from text or a number, under both names of the member", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (generation) => {
        for (const value of [generation, String(generation)]) {
          for (const name of ["currentGeneration", "current_generation"]) {
            expect(decodeRequest("get", { id: "t", [name]: value })).toMatchObject({ waitAfterSeq: generation - 1 });
          }
          for (const name of ["ifGenerationMatch", "if_generation_match"]) {
            const params = { message, configuration: { [name]: value } };
            expect(decodeRequest("stream", params)).toMatchObject({ expectedSeq: generation - 1 });
          }
        }
      }),
      SAMPLES,
    );
  });

  it("never accepts another value, and names the field", () => {
    const wrong = fc.anything().filter((value) => {
      if (value === undefined || value === null) return false;
      const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
      return !(typeof number === "number" && Number.isSafeInteger(number) && number >= 0);
    });
    fc.assert(
      fc.property(wrong, (value) => {
        expect(() => decodeRequest("get", { id: "t", currentGeneration: value })).toThrow(/^currentGeneration: must/);
        const params = { message, configuration: { ifGenerationMatch: value } };
        expect(() => decodeRequest("send", params)).toThrow(/^configuration\.ifGenerationMatch: must/);
      }),
      SAMPLES,
    );
  });

  it("has the generation of a get in the query of REST, and only there", () => {
    const query = new URLSearchParams("currentGeneration=3&historyLength=2");
    const request = { path: { id: "t" }, query, body: undefined };
    expect(paramsOf("get", request)).toEqual({ id: "t", historyLength: 2, currentGeneration: "3" });
    expect(paramsOf("cancel", request)).not.toHaveProperty("currentGeneration");
    const twice = { ...request, query: new URLSearchParams("currentGeneration=3&current_generation=3") };
    expect(() => paramsOf("get", twice)).toThrow("currentGeneration: must be given only once");
  });
});
