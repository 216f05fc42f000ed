import { describe, expect, it } from "vitest";
import type { A2AError } from "../protocol/error.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { checkConfig } from "./check-config.ts";

const URL_TEXT = "https://hooks.example/";

function problemOf(config: Partial<PushConfig>, field = "config"): string | undefined {
  try {
    checkConfig({ url: URL_TEXT, ...config }, field, (url) => {
      if (!url.startsWith("https:")) throw new Error("it is not encrypted");
    });
    return undefined;
  } catch (error) {
    const { code, violations } = error as A2AError;
    return `${code} ${violations[0]?.field}`;
  }
}

describe("A push configuration", () => {
  it.each<[string, Partial<PushConfig>]>([
    ["a token", { token: "a b~!" }],
    ["credentials", { authentication: { schemes: ["Bearer", "Basic"], credentials: "abc==" } }],
    ["headers of its own", { headers: { "X-Api-Key": "k", Cookie: "a=b" } }],
    ["its own Authorization, where no other is asked for", { headers: { Authorization: "Digest x" } }],
  ])("may have %s", (_, config) => {
    expect(problemOf(config)).toBeUndefined();
  });

  it.each<[Partial<PushConfig>, string]>([
    [{ url: "http://hooks.example/" }, "url"],
    [{ url: `${URL_TEXT}${"x".repeat(2048)}` }, "url"],
    [{ token: "x".repeat(4097) }, "token"],
    [{ token: "a\r\nX-Evil: 1" }, "token"],
    [{ token: "naïve" }, "token"],
    [{ token: "***" }, "token"],
    [{ authentication: { schemes: ["Basic"], credentials: "***" } }, "authentication.credentials"],
    [{ headers: { "X-Api-Key": "***" } }, "headers.X-Api-Key"],
    [{ authentication: { schemes: ["Bearer\n"] } }, "authentication.schemes"],
    [{ authentication: { schemes: ["Bearer", "a b"] } }, "authentication.schemes"],
    [{ authentication: { schemes: ["Basic"], credentials: "a\nb" } }, "authentication.credentials"],
    [{ headers: { "X-A": "a\nb" } }, "headers.X-A"],
    [{ headers: { "X A": "a" } }, "headers"],
    [{ headers: { "": "a" } }, "headers"],
    [{ headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a"],
    [{ headers: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`X-${index}`, "1"])) }, "headers"],
    [{ headers: { Authorization: "x" }, authentication: { schemes: ["Bearer"] } }, "headers.Authorization"],
    ...[
      ...["Host", "content-length", "Content-Type", "Transfer-Encoding", "connection", "Upgrade", "TE", "Keep-Alive"],
      ...["Proxy-Authorization", "X-A2A-Notification-Token", "x-a2a-anything", "A2A-Version", "traceparent", "Expect"],
    ].map((name): [Partial<PushConfig>, string] => [{ headers: { [name]: "x" } }, `headers.${name}`]),
  ])("is refused with the name of the wrong field: %j", (config, field) => {
    expect(problemOf(config)).toBe(`invalid-params config.${field}`);
    expect(problemOf(config, "")).toBe(`invalid-params ${field}`);
  });
});
