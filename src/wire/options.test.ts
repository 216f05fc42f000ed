import { describe, expect, it } from "vitest";
import { dialectSettings } from "./options.ts";

const DEFAULTS = {
  card: "hybrid",
  versions: undefined,
  preview: [],
  assumeVersion: "0.3",
  lenient: undefined,
  errorProfile: "1.0.1",
  restMediaType: "application/a2a+json",
  restStyle: "proto",
  blockingDefault: {
    "0.3/jsonrpc": "wait",
    "0.3/rest-json": "wait",
    "0.3/rest-proto": "return",
    "0.3/grpc": "return",
    "0.2/jsonrpc": "wait",
    "0.1/jsonrpc": "return",
  },
  requireDefaultProject: false,
};

/** Options as JavaScript or environment variables may give them. */
function settingsOf(options: Readonly<Record<string, unknown>>): unknown {
  return dialectSettings(options);
}

describe("dialectSettings", () => {
  it("fills in the defaults", () => {
    expect(dialectSettings({})).toEqual(DEFAULTS);
    const unset = { card: undefined, lenient: undefined, errorProfile: undefined, blockingDefault: undefined };
    expect(dialectSettings(unset)).toEqual(DEFAULTS);
    expect(settingsOf({ card: null, blockingDefault: null })).toEqual(DEFAULTS);
  });

  it("takes the values of the options", () => {
    const options = {
      versions: ["1.0", "plain"],
      assumeVersion: "0.2",
      card: "strict",
      lenient: false,
      errorProfile: "1.0.0",
      restMediaType: "application/json",
      restStyle: "json",
    } as const;
    expect(dialectSettings(options)).toEqual({ ...DEFAULTS, ...options });
    expect(dialectSettings({ lenient: true })).toEqual({ ...DEFAULTS, lenient: true });
  });

  it("changes blockingDefault only for the given dialects", () => {
    const blockingDefault = { "0.3/jsonrpc": 2500, "0.3/rest-proto": "wait", "0.3/rest-json": undefined };
    const others = { "0.2/jsonrpc": "return", "0.1/jsonrpc": 100 };
    expect(settingsOf({ blockingDefault: { ...blockingDefault, ...others } })).toEqual({
      ...DEFAULTS,
      blockingDefault: {
        "0.3/jsonrpc": 2500,
        "0.3/rest-json": "wait",
        "0.3/rest-proto": "wait",
        "0.3/grpc": "return",
        ...others,
      },
    });
    expect(dialectSettings({ blockingDefault: { "0.3/jsonrpc": 0 } }).blockingDefault["0.3/jsonrpc"]).toBe(0);
  });

  it.each([
    [{ card: "both" }, 'card must be "hybrid" or "strict", not "both".'],
    [{ card: "" }, 'card must be "hybrid" or "strict", not "".'],
    [{ card: ["strict"] }, 'card must be "hybrid" or "strict", not an array.'],
    [{ card: "x".repeat(5000) }, `card must be "hybrid" or "strict", not "${"x".repeat(58)}….`],
    [{ versions: "1.0" }, 'versions must be a list, not "1.0".'],
    [{ versions: ["1.0", 0.3] }, "versions must be a list of strings, but contains 0.3."],
    [{ assumeVersion: "1.0" }, 'assumeVersion must be "0.3" or "0.2", not "1.0".'],
    [{ lenient: "true" }, 'lenient must be true or false, not "true".'],
    [{ lenient: 1 }, "lenient must be true or false, not 1."],
    [{ errorProfile: "1.0" }, 'errorProfile must be "1.0.1" or "1.0.0", not "1.0".'],
    [{ errorProfile: 1 }, 'errorProfile must be "1.0.1" or "1.0.0", not 1.'],
    [
      { restMediaType: "text/plain" },
      'restMediaType must be "application/a2a+json" or "application/json", not "text/plain".',
    ],
    [{ restStyle: "xml" }, 'restStyle must be "proto" or "json", not "xml".'],
    [{ blockingDefault: "wait" }, 'blockingDefault must be an object, not "wait".'],
    [{ blockingDefault: ["wait"] }, "blockingDefault must be an object, not an array."],
    [
      { blockingDefault: { "1.0/rest": "wait" } },
      'blockingDefault has the unknown key "1.0/rest". Allowed keys: 0.3/jsonrpc, 0.3/rest-json, 0.3/rest-proto, 0.3/grpc, 0.2/jsonrpc, 0.1/jsonrpc.',
    ],
    [{ blockingDefault: { toString: "wait" } }, 'blockingDefault has the unknown key "toString"'],
    [
      { blockingDefault: { "0.3/jsonrpc": "forever" } },
      'blockingDefault["0.3/jsonrpc"] must be "wait", "return" or a number of milliseconds >= 0, not "forever".',
    ],
    [{ blockingDefault: { "0.3/jsonrpc": -1 } }, ">= 0, not -1."],
    [{ blockingDefault: { "0.3/jsonrpc": Number.NaN } }, ">= 0, not NaN."],
    [{ blockingDefault: { "0.3/jsonrpc": Number.POSITIVE_INFINITY } }, ">= 0, not Infinity."],
    [{ blockingDefault: { "0.3/jsonrpc": null } }, ">= 0, not null."],
    [{ blockingDefault: { "0.3/jsonrpc": 10n } }, ">= 0, not 10."],
  ])("refuses an invalid option and names it: %o", (options, expected) => {
    const make = (): unknown => settingsOf(options);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(expected);
  });
});
