import { describe, expect, it } from "vitest";
import { parseRate, rateLimitFrom } from "./rate-settings.ts";

describe("A rate", () => {
  it.each([
    ["600/60", { requests: 600, seconds: 60 }],
    ["600/60s", { requests: 600, seconds: 60 }],
    ["100/m", { requests: 100, seconds: 60 }],
    ["5000/2h", { requests: 5000, seconds: 7200 }],
    ["1/d", { requests: 1, seconds: 86_400 }],
  ])("parses %s", (text, rate) => {
    expect(parseRate(text)).toEqual(rate);
  });

  it.each(["", "100", "100/", "/60", "-1/60", "1.5/60", "100/60x", "100 / 60", "1e3/60"])("rejects %j", (text) => {
    expect(() => parseRate(text)).toThrow(/600\/60s/);
  });

  it("comes from the environment without an option", () => {
    const env = { RATE_LIMIT: "10/s", ADDRESS_RATE_LIMIT: "" };
    const rate = { requests: 10, seconds: 1 };
    expect(rateLimitFrom(undefined, env)).toEqual({ principal: rate });
    expect(rateLimitFrom({ principal: { requests: 5, seconds: 1 }, address: rate }, env)).toEqual({
      principal: { requests: 5, seconds: 1 },
      address: rate,
    });
    expect(rateLimitFrom({}, {})).toBeUndefined();
  });

  it("is rejected at once with a reason if it is invalid", () => {
    expect(() => rateLimitFrom({ address: { requests: 0, seconds: 1 } }, {})).toThrow(/requests, not 0/);
    expect(() => rateLimitFrom(undefined, { RATE_LIMIT: "1/100d" })).toThrow(/seconds, not 8640000/);
  });
});
