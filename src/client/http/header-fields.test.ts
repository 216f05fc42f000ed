import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeaderFields } from "./header-fields.ts";

const name = fc.constantFrom("accept", "Accept", "X-Key", "vary", "Set-Cookie", "set-cookie", "a", "b c", "", "ä");
const value = fc.oneof(fc.string(), fc.constantFrom(" a\t", "\r\n", "a\nb", "a\0", "é", "€", "\ud800", "a, b"));
const change = fc.oneof(
  fc.tuple(fc.constantFrom("append" as const, "set" as const), name, value),
  fc.tuple(fc.constantFrom("get" as const, "has" as const, "delete" as const), name),
);

describe("header fields", () => {
  it("return and reject the same as `Headers`, whatever is done to them", () => {
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const ours = new HeaderFields();
        const real = new Headers();
        for (const each of changes) expect(outcome(ours, each)).toEqual(outcome(real, each));
        expect([...ours]).toEqual([...real]);
        expect([...ours.keys()]).toEqual([...real.keys()]);
        expect([...ours.values()]).toEqual([...real.values()]);
        expect(ours.getSetCookie()).toEqual(real.getSetCookie());
      }),
    );
  });

  it("are made of an object, of pairs, or of other headers", () => {
    const expected = [["x-key", "1, 2"]];
    expect([
      ...new HeaderFields([...expected, ["A", "b"]].map(([key = "", text = ""]) => [key, text] as const)),
    ]).toEqual([["a", "b"], ...expected]);
    expect([...new HeaderFields({ "X-Key": "1, 2" })]).toEqual(expected);
    expect([...new HeaderFields(new Headers({ "X-Key": "1, 2" }))]).toEqual(expected);
  });

  it("are accepted by `Headers`, and given to a callback with themselves", () => {
    const fields = new HeaderFields({ b: "2", a: "1" });
    expect([...new Headers(fields)]).toEqual([...fields]);
    const seen: unknown[] = [];
    fields.forEach((text, key, all) => void seen.push([key, text, all === fields]));
    expect(seen).toEqual([
      ["a", "1", true],
      ["b", "2", true],
    ]);
  });

  it("do not show a rejected value in the error", () => {
    expect(() => new HeaderFields({ authorization: "Bearer secret\r\nx: y" })).toThrow(/^(?!.*secret)/s);
  });
});

/** What a call returned; `rejected` if it threw. */
function outcome(
  headers: Headers,
  [method, key, text = ""]: readonly [keyof Headers & string, string, string?],
): unknown {
  try {
    if (method === "append" || method === "set") return headers[method](key, text);
    if (method === "get" || method === "has" || method === "delete") return headers[method](key);
    throw new Error(`${method} is not tested`);
  } catch (error) {
    return error instanceof TypeError ? "rejected" : error;
  }
}
