import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Output } from "./agent.ts";
import { dataOf, filesOf, storableCopy, toMessageParts, toParts } from "./output.ts";

/** A value that the types do not allow. */
const untyped = (value: unknown): Output => value as Output;

describe("toParts", () => {
  test.each<[string, Output, unknown]>([
    ["a text is a text part", "hello", [{ text: "hello" }]],
    ["an empty text is one too", "", [{ text: "" }]],
    ["a part is itself", { text: "a", mediaType: "text/markdown" }, [{ text: "a", mediaType: "text/markdown" }]],
    ["a data part is itself", { data: { a: 1 }, metadata: { b: 2 } }, [{ data: { a: 1 }, metadata: { b: 2 } }]],
    ["a data part may hold null", { data: null }, [{ data: null }]],
    ["a list of parts is those parts", [{ text: "a" }, { data: 1 }], [{ text: "a" }, { data: 1 }]],
    ["a url part is itself", { url: "https://example.org/a.png" }, [{ url: "https://example.org/a.png" }]],
    ["an object is data", { city: "Oslo" }, [{ data: { city: "Oslo" } }]],
    ["an object with more than a part has is data", { text: "a", score: 1 }, [{ data: { text: "a", score: 1 } }]],
    ["an object with two contents is data", { text: "a", url: "b" }, [{ data: { text: "a", url: "b" } }]],
    ["part details without content are data", { filename: "a" }, [{ data: { filename: "a" } }]],
    ["a number is data", 42, [{ data: 42 }]],
    ["false is data", false, [{ data: false }]],
    ["null is data", null, [{ data: null }]],
    ["an empty list is data", [], [{ data: [] }]],
    ["a list of texts is data", ["a", "b"], [{ data: ["a", "b"] }]],
    ["a list of parts and other things is data", [{ text: "a" }, 1], [{ data: [{ text: "a" }, 1] }]],
    ["a list with an ill-formed part is data", [{ text: 5 }], [{ data: [{ text: 5 }] }]],
    ["a file name alone is data", { file: "a.txt" }, [{ data: { file: "a.txt" } }]],
  ])("%s", (_name, output, parts) => {
    expect(toParts(output)).toEqual(parts);
  });

  test("a file with bytes becomes base64, also if the bytes are a view of a larger buffer", () => {
    const bytes = new TextEncoder().encode("..hello..").subarray(2, 7);
    const [part] = toParts({ file: { bytes, name: "a.txt", mediaType: "text/plain" } });
    expect(part).toEqual({ raw: Buffer.from("hello").toString("base64"), filename: "a.txt", mediaType: "text/plain" });
  });

  test("a file with a url becomes a url part", () => {
    expect(toParts({ file: { url: "https://example.org/a" } })).toEqual([{ url: "https://example.org/a" }]);
  });

  test.each<[string, unknown, RegExp]>([
    ["undefined", undefined, /Output is undefined/],
    ["a function", () => 1, /Output is a function/],
    ["a symbol", Symbol("a"), /Output is a symbol/],
    ["a bigint", { a: [1n] }, /Output\.a\[0\] is a bigint/],
    ["NaN", { a: Number.NaN }, /Output\.a is NaN/],
    ["an infinite number", [Number.POSITIVE_INFINITY], /Output\[0\] is Infinity/],
    ["undefined in a list, which JSON would make null", [undefined], /Output\[0\] is undefined/],
    ["a hole in a list", Object.assign([1], { 2: 2 }), /Output\[1\] is undefined/],
    ["a method", { a: { run() {} } }, /Output\.a\.run is a function/],
    ["bytes without a file", new Uint8Array(2), /Output is binary.*file/],
    ["bytes within a value", { a: Buffer.from("x") }, /Output\.a is binary/],
    ["a Map", new Map([["a", 1]]), /Output is a Map object/],
    ["a Set", { a: new Set([1]) }, /Output\.a is a Set object/],
    ["an Error", { reason: new RangeError("secret") }, /Output\.reason is a RangeError object/],
    ["a promise", Promise.resolve(1), /Output is a Promise object/],
    ["a text part whose text is no string", { text: 5 }, /Output\.text must be a string, not a number.*\{ data: … \}/],
    ["a text part whose text is null", { text: null }, /Output\.text must be a string, not null/],
    ["a raw part that is not base64", { raw: "a b" }, /Output\.raw must be .*base64/],
    ["a raw part without its padding", { raw: "YQ" }, /Output\.raw must be .*base64/],
    ["a url part with a relative url", { url: "a/b" }, /Output\.url must be an absolute URL/],
    ["a media type that is no string", { text: "a", mediaType: 1 }, /Output\.mediaType must be a string/],
    ["metadata that is a list", { text: "a", metadata: [] }, /Output\.metadata must be an object, not an array/],
    ["metadata that JSON cannot represent", { text: "a", metadata: { a: 1n } }, /Output\.metadata\.a is a bigint/],
    ["a file with both", { file: { bytes: new Uint8Array(1), url: "https://a.example" } }, /not both/],
    ["a file whose bytes are none", { file: { bytes: "abc" } }, /file\.bytes must be a Uint8Array, not a string/],
    ["a file whose url is none", { file: { url: "abc" } }, /Output\.file\.url must be an absolute URL/],
    ["a file whose name is no string", { file: { bytes: new Uint8Array(1), name: 1 } }, /file\.name must be a string/],
  ])("refuses %s", (_name, output, problem) => {
    expect(() => toParts(untyped(output))).toThrow(TypeError);
    expect(() => toParts(untyped(output))).toThrow(problem);
  });

  test("refuses a cycle, but not an object that occurs twice", () => {
    const shared = { a: 1 };
    expect(toParts({ left: shared, right: shared })).toEqual([{ data: { left: { a: 1 }, right: { a: 1 } } }]);
    const circular: Record<string, unknown> = {};
    circular["inner"] = { again: circular };
    expect(() => toParts(untyped(circular))).toThrow(/Output\.inner\.again contains itself/);
  });

  test("refuses deep nesting without a stack overflow", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(() => toParts(untyped(deep))).toThrow(/deeper than 100 levels/);
  });

  test("leaves out undefined members and calls toJSON", () => {
    const at = new Date(0);
    expect(toParts(untyped({ a: undefined, at }))).toEqual([{ data: { at: "1970-01-01T00:00:00.000Z" } }]);
    expect(Object.keys(toParts(untyped({ text: "a", mediaType: undefined }))[0] ?? {})).toEqual(["text"]);
  });

  test("copies the members of a class instance", () => {
    class Trip {
      city = "Oslo";
    }
    expect(toParts(untyped(new Trip()))).toEqual([{ data: { city: "Oslo" } }]);
  });

  test("keeps a member named __proto__ as a member", () => {
    const [part] = toParts(JSON.parse('{"__proto__":{"admin":true},"a":1}'));
    expect(JSON.stringify(part)).toBe('{"data":{"__proto__":{"admin":true},"a":1}}');
    expect(Object.getPrototypeOf(part?.data)).toBe(Object.prototype);
  });

  test("is not affected by later changes to the object", () => {
    const trip = { cities: ["Oslo"] };
    const parts = toParts(trip);
    trip.cities.push("Bergen");
    expect(parts).toEqual([{ data: { cities: ["Oslo"] } }]);
  });

  test("any JSON value inside a data part survives unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        // -0 is 0 in JSON.
        const json = JSON.stringify(value);
        expect(JSON.stringify(toParts({ data: JSON.parse(json) }))).toBe(`[{"data":${json}}]`);
      }),
    );
  });
});

describe("storableCopy", () => {
  class Trip {
    readonly city = "Oslo";
  }

  test.each([
    ["a Map", new Map([[1, 2]]), "The value is a Map object"],
    ["a Set", new Set([1]), "The value is a Set object"],
    ["a Date", new Date(0), "The value is a Date object"],
    ["a class instance", new Trip(), "The value is a Trip object"],
    ["bytes", new Uint8Array(1), "The value is a Uint8Array object"],
    ["a Date inside", { legs: [{ at: new Date(0) }] }, "The value at legs[0].at is a Date object"],
    ["a function inside", { a: () => 1 }, "Output.a is a function"],
    ["NaN", { price: Number.NaN }, "Output.price is NaN"],
    ["a bigint", 1n, "Output is a bigint"],
    ["a hole", [1, undefined], "Output[1] is undefined"],
  ])("refuses %s, which JSON would change", (_name, value, problem) => {
    expect(() => storableCopy(value)).toThrow(problem);
  });

  test("keeps plain values, also without a prototype, and leaves out undefined members", () => {
    expect(storableCopy({ a: [1, { b: null }], c: undefined })).toEqual({ a: [1, { b: null }] });
    expect(storableCopy(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
    expect(storableCopy(undefined)).toBeUndefined();
  });

  test("refuses a cycle", () => {
    const ring: { next?: unknown } = {};
    ring.next = ring;
    expect(() => storableCopy(ring)).toThrow("contains itself");
  });
});

describe("toMessageParts", () => {
  test("accepts a text, a part and a list of parts", () => {
    expect(toMessageParts("a")).toEqual([{ text: "a" }]);
    expect(toMessageParts({ data: 1 })).toEqual([{ data: 1 }]);
    expect(toMessageParts([{ text: "a" }, { text: "b" }])).toEqual([{ text: "a" }, { text: "b" }]);
  });

  test.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /must be a part/],
    ["an empty list", [], /at least one part/],
    ["any other object", { city: "Oslo" }, /must be a part/],
    ["a list of texts", [{ text: "a" }, "b"], /Output\[1\] must be a part/],
    ["an ill-formed part", [{ text: 1 }], /Output\[0\]\.text must be a string/],
  ])("refuses %s", (_name, message, problem) => {
    expect(() => toMessageParts(message as never)).toThrow(problem);
  });
});

describe("filesOf and dataOf", () => {
  test("return the files in order, decoded once, and the first data", () => {
    const raw = Buffer.from([0, 255, 7]).toString("base64");
    const files = filesOf([
      { text: "see" },
      { raw, filename: "a.bin", mediaType: "application/octet-stream" },
      { url: "https://example.org/b" },
    ]);
    expect(files.map(({ name, mediaType, url }) => ({ name, mediaType, url }))).toEqual([
      { name: "a.bin", mediaType: "application/octet-stream", url: undefined },
      { name: undefined, mediaType: undefined, url: "https://example.org/b" },
    ]);
    expect([...(files[0]?.bytes ?? [])]).toEqual([0, 255, 7]);
    expect(files[0]?.bytes).toBe(files[0]?.bytes);
    expect(files[1]?.bytes).toBeUndefined();
    expect(dataOf([{ text: "a" }, { data: null }, { data: 1 }])).toBeNull();
    expect(dataOf([{ text: "a" }])).toBeUndefined();
  });

  test("an empty file is a file", () => {
    expect(filesOf([{ raw: "" }])[0]?.bytes?.byteLength).toBe(0);
  });
});
