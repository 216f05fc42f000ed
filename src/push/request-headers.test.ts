import { describe, expect, it } from "vitest";
import type { PushCodec } from "../wire/codec.ts";
import { requestHeaders } from "./request-headers.ts";
import type { WebhookTarget } from "./webhook-target.ts";

const CODEC: PushCodec = {
  carries: "event",
  mediaType: "application/json",
  headers: {},
  tokenAsBearer: false,
  encodeEvent: () => "",
  encodeTask: () => "",
};
const TARGET: WebhookTarget = { url: "https://hooks.example/", afterFailure: "suspended", nonce: "n" };

function authorization(target: Partial<WebhookTarget>, codec: Partial<PushCodec> = {}, signature?: string) {
  const parts = { target: { ...TARGET, ...target }, codec: { ...CODEC, ...codec }, trace: undefined, signature };
  return requestHeaders(parts)["authorization"];
}

describe("The Authorization of a notification", () => {
  it.each<[string, Partial<WebhookTarget>, string | undefined]>([
    ["what was configured", { authentication: { schemes: ["Basic"], credentials: "abc" }, token: "t" }, "Basic abc"],
    [
      "our signature, where a bearer is asked for and none given",
      { authentication: { schemes: ["bearer"] } },
      "Bearer sig",
    ],
    [
      "our signature, also where a bearer is only one of what would do",
      { authentication: { schemes: ["Basic", "Bearer"] } },
      "Bearer sig",
    ],
    [
      "nothing, where another scheme is asked for and nothing given",
      { authentication: { schemes: ["Basic"] } },
      undefined,
    ],
    ["the caller's own header", { headers: { AUTHORIZATION: "Digest x" }, token: "t" }, "Digest x"],
    ["nothing, where nothing is asked for", { token: "t" }, undefined],
  ])("is %s", (_, target, expected) => {
    expect(authorization(target, {}, "sig")).toBe(expected);
  });

  it("is the token if the version sends it as bearer token and no scheme is configured", () => {
    expect(authorization({ token: "t" }, { tokenAsBearer: true }, "sig")).toBe("Bearer t");
    expect(authorization({ token: "t", authentication: { schemes: ["Bearer"] } }, { tokenAsBearer: true }, "sig")).toBe(
      "Bearer sig",
    );
  });
});

describe("The headers of a notification", () => {
  it("are never replaced by headers that the caller configured", () => {
    const headers = requestHeaders({
      target: { ...TARGET, headers: { "A2A-Version": "no", "Content-Type": "text/html", "X-Mine": "1" }, token: "t" },
      codec: { ...CODEC, headers: { "A2A-Version": "yes" } },
      trace: { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1, state: "x=1" },
      signature: "sig",
    });
    expect(headers).toEqual({
      "a2a-version": "yes",
      "content-type": "application/json",
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
      tracestate: "x=1",
      "x-a2a-notification-signature": "sig",
      "x-a2a-notification-token": "t",
      "x-mine": "1",
    });
  });
});
