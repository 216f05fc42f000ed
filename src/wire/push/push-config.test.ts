import { describe, expect, it } from "vitest";
import { fieldRefused } from "../test/hostile.ts";
import { decodePushConfig } from "./push-config.ts";

const url = "https://x/hook";

function decoded(wire: Readonly<Record<string, unknown>>): unknown {
  return decodePushConfig({ url, ...wire }, "config.", () => undefined);
}

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, "v"]));
}

describe("The headers of a push configuration", () => {
  it.each([
    [{ Authorization: "Bearer s", "X-Key": "" }],
    [{ "!#$%&'*+-.^_`|~": "\t \x7e\x80\xff" }],
    [many(32)],
    [{ a: "v".repeat(8192) }],
    [JSON.parse('{"__proto__":"v","toString":"w"}')],
  ])("are kept unchanged: %j", (headers: Readonly<Record<string, string>>) => {
    expect(decoded({ headers })).toEqual({ url, headers });
    expect(JSON.stringify(decoded({ headers }))).toBe(JSON.stringify({ url, headers }));
  });

  it.each([[undefined], [null], [{}]])("may be absent: %j", (headers) => {
    expect(decoded({ headers })).toEqual({ url });
  });

  it.each([
    ["a list", [["a", "b"]], "config.headers"],
    ["text", "a: b", "config.headers"],
    ["a number", { a: 1 }, "config.headers.a"],
    ["a list of values", { a: ["b"] }, "config.headers.a"],
    ["nothing for a value", { a: null }, "config.headers.a"],
    ["another header in a value", { a: "b\r\nHost: c" }, "config.headers.a"],
    ["a line break", { a: "b\n" }, "config.headers.a"],
    ["NUL", { a: "\0" }, "config.headers.a"],
    ["DEL", { a: "\x7f" }, "config.headers.a"],
    ["a character beyond Latin-1", { a: "€" }, "config.headers.a"],
    ["half a character", { a: "\ud800" }, "config.headers.a"],
    ["a long value", { a: "v".repeat(8193) }, "config.headers.a"],
    ["no name", { "": "v" }, "config.headers"],
    ["a name with a space", { "a b": "v" }, "config.headers"],
    ["a name with a colon", { "a:": "v" }, "config.headers"],
    ["a name with a line break", { "a\r\nb": "v" }, "config.headers"],
    ["a name with an accent", { é: "v" }, "config.headers"],
    ["a long name", { ["a".repeat(9000)]: "v" }, "config.headers"],
    ["too many", many(33), "config.headers"],
  ])("are refused with %s", (_what, headers, field) => {
    expect(fieldRefused(() => decoded({ headers }))).toBe(field);
  });
});

describe("The events of a push configuration", () => {
  it.each([
    [["status"], ["status"]],
    [
      ["artifact", "status"],
      ["artifact", "status"],
    ],
    [["status", "status"], ["status"]],
  ])("%j are %j", (events, expected) => {
    expect(decoded({ events })).toEqual({ url, events: expected });
  });

  it.each([[undefined], [null], [[]]])("are all events for %j", (events) => {
    expect(decoded({ events })).toEqual({ url });
  });

  it.each([
    ["status", "config.events"],
    [{}, "config.events"],
    [["done"], "config.events[0]"],
    [["status", null], "config.events[1]"],
    [["status", "toString"], "config.events[1]"],
    [Array.from({ length: 17 }, () => "status"), "config.events"],
  ])("%j are refused", (events, field) => {
    expect(fieldRefused(() => decoded({ events }))).toBe(field);
  });
});

describe("A value that is sent to a webhook", () => {
  it.each([
    [{ token: "a\r\nb" }, "config.token"],
    [{ token: "€" }, "config.token"],
    [{ token: "t".repeat(8193) }, "config.token"],
    [{ token: {} }, "config.token"],
    [{ url: "" }, "config.url"],
    [{ url: null }, "config.url"],
    [{ url: `https://x/${"a".repeat(8192)}` }, "config.url"],
    [{ id: "x".repeat(257) }, "config.id"],
    [{ id: "\0" }, "config.id"],
  ])("is refused if an HTTP header cannot contain it: %j", (wire, field) => {
    expect(fieldRefused(() => decoded(wire))).toBe(field);
  });
});
