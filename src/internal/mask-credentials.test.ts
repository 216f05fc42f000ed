import { describe, expect, it } from "vitest";
import { maskCredentials } from "./mask-credentials.ts";

describe("maskCredentials", () => {
  it.each([
    ["401 for Authorization: Bearer abc.def-123", "401 for Authorization: Bearer [hidden]"],
    ["basic dXNlcjpwYXNz refused", "basic [hidden] refused"],
    ["GET https://h/x?api_key=s3cr3t&b=1 failed", "GET https://h/x?api_key=[hidden]&b=1 failed"],
    ['{"password": "s3cr3t", "user": "ada"}', '{"password": "[hidden]", "user": "ada"}'],
    ["postgres://ada:s3cr3t@db/x is down", "postgres://[hidden]@db/x is down"],
    ["invalid key sk-proj-0123456789abcdef0123", "invalid key [hidden]"],
    ["ghp_0123456789abcdefghij01", "[hidden]"],
  ])("hides the credentials in %s", (text, masked) => {
    expect(maskCredentials(text)).toBe(masked);
  });

  it.each(["The bearer of the ring", "unexpected token } in JSON", "See https://h:8080/a@b", "basic types"])(
    "leaves %s as it is",
    (text) => {
      expect(maskCredentials(text)).toBe(text);
    },
  );
});
