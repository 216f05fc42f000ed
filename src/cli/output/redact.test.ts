import { describe, expect, it } from "vitest";
import { Redaction } from "./redact.ts";

describe("redacted output", () => {
  it("contains no known secret, also not URL-encoded or JSON-escaped", () => {
    const redaction = new Redaction();
    redaction.hide('s3cr"t/+');
    for (const text of ['x s3cr"t/+ y', `?k=${encodeURIComponent('s3cr"t/+')}`, JSON.stringify({ a: 's3cr"t/+' })]) {
      expect(redaction.text(text)).toContain("[redacted]");
      expect(redaction.text(text)).not.toMatch(/s3cr/);
    }
  });

  it("contains no values of JSON members and form fields with the names of secrets", () => {
    const redaction = new Redaction();
    const body = '{"access_token":"abc","nested":{"clientSecret":"d\\"ef"},"credentials" : "ghi","text":"token"}';
    expect(redaction.text(body)).not.toMatch(/abc|ef"|ghi/);
    expect(redaction.text(body)).toContain('"text":"token"');
    expect(redaction.text("grant_type=x&client_secret=abc&device_code=def")).toBe(
      "grant_type=x&client_secret=[redacted]&device_code=[redacted]",
    );
  });

  it("contains no values of credential headers and of hidden headers", () => {
    const redaction = new Redaction();
    redaction.hideHeader("X-Custom");
    for (const name of ["Authorization", "cookie", "X-Api-Key", "x-custom"]) {
      expect(redaction.header(name, "value")).toBe("[redacted]");
    }
    expect(redaction.header("a2a-version", "7")).toBe("7");
  });

  it("keeps texts that match a secret too short to search for", () => {
    const redaction = new Redaction();
    redaction.hide("a");
    redaction.hide(undefined);
    expect(redaction.text("banana")).toBe("banana");
  });
});
