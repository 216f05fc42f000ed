import { describe, expect, it } from "vitest";
import { answerMediaType } from "./media-type.ts";

const A2A = "application/a2a+json";
const JSON_TYPE = "application/json";
const OFFERED: readonly [string, string] = [A2A, JSON_TYPE];

describe("An answer's media type", () => {
  it.each([
    // Accept, Content-Type, expected media type.
    [undefined, undefined, A2A],
    [undefined, JSON_TYPE, JSON_TYPE],
    [undefined, A2A, A2A],
    [undefined, "application/json; charset=utf-8", JSON_TYPE],
    [undefined, "Application/JSON", JSON_TYPE],
    [undefined, "application/vnd.other+json", A2A],
    [undefined, "text/plain", A2A],
    ["", JSON_TYPE, JSON_TYPE],
    ["*/*", undefined, A2A],
    ["*/*", JSON_TYPE, JSON_TYPE],
    ["application/*", JSON_TYPE, JSON_TYPE],
    ["application/*, */*;q=0.1", undefined, A2A],
    [JSON_TYPE, undefined, JSON_TYPE],
    [JSON_TYPE, A2A, JSON_TYPE],
    [A2A, JSON_TYPE, A2A],
    ["APPLICATION/JSON", A2A, JSON_TYPE],
    [" application/json ;q=1.0", A2A, JSON_TYPE],
    ["application/json, application/a2a+json", undefined, JSON_TYPE],
    ["application/a2a+json, application/json", JSON_TYPE, A2A],
    ["application/json;q=0.5, application/a2a+json;q=0.9", undefined, A2A],
    ["application/json;q=0.9, application/a2a+json;q=0.5", undefined, JSON_TYPE],
    ["application/json; q=0.8 , application/a2a+json", JSON_TYPE, A2A],
    ["application/json;Q=0.001, */*", undefined, JSON_TYPE],
    ["application/json;q=0", undefined, A2A],
    ["application/json;q=0, application/a2a+json;q=0", JSON_TYPE, JSON_TYPE],
    ["application/json;q=0.0, */*", undefined, A2A],
    ["application/json;version=1;q=0.2, application/a2a+json;q=0.1", undefined, JSON_TYPE],
    ["application/json;q=high", A2A, JSON_TYPE],
    ["application/json;q=7", A2A, JSON_TYPE],
    ["text/html, application/xhtml+xml, */*;q=0.8", JSON_TYPE, JSON_TYPE],
    ["text/html", undefined, A2A],
    ["text/event-stream", undefined, A2A],
    ["text/event-stream, application/json", undefined, JSON_TYPE],
    [", ,;,/,;q=1", JSON_TYPE, JSON_TYPE],
  ])("for Accept %j and Content-Type %j is %s", (accept, contentType, expected) => {
    expect(answerMediaType(OFFERED, { accept, contentType })).toBe(expected);
  });

  it("is chosen quickly from a very long Accept header", () => {
    const accept = `${"x/y,".repeat(100_000)}${JSON_TYPE}`;
    expect(answerMediaType(OFFERED, { accept, contentType: undefined })).toBe(A2A);
  });

  it("is the only offered one, whatever is accepted", () => {
    expect(answerMediaType([JSON_TYPE], { accept: A2A, contentType: A2A })).toBe(JSON_TYPE);
  });
});
