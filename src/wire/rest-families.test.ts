import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../protocol/operation.ts";
import type { RestFamily } from "./codec.ts";
import { createDialects } from "./dialects.ts";
import type { DialectOptions } from "./options.ts";

const PROTO = { message: { content: [], role: "ROLE_USER" } };
const JSON_STYLE = { message: { kind: "message", parts: [], role: "user" } };

function families(
  options: DialectOptions = {},
): readonly [newer: RestFamily, older: RestFamily, plain: RestFamily, card: RestFamily] {
  const [newer, older, card, plain] = createDialects(options).restFamilies;
  if (newer === undefined || older === undefined || card === undefined || plain === undefined)
    throw new Error("There are four families.");
  return [newer, older, plain, card];
}

/** The dialect that answers, and the error code of a refusal. */
function answer(family: RestFamily, requested?: string, body?: unknown): string {
  const { codec, refusal } = family.choose(requested, body);
  return refusal === undefined ? codec.dialect : `${codec.dialect} ${refusal.code}`;
}

describe("The routes of REST", () => {
  it("reach every operation in every version", () => {
    const [newer, older, plain, card] = families();
    for (const { routes } of [newer, older]) {
      expect(new Set(routes.map(({ operation }) => operation))).toEqual(new Set(OPERATIONS));
    }
    expect(plain.routes.map(({ operation }) => operation)).toEqual(["send", "get"]);
    expect(card.routes.map(({ operation }) => operation)).toEqual(["extended-card"]);
  });

  it("have different paths in different versions", () => {
    const [newer, older, plain] = families();
    expect(newer.routes.every(({ path }) => !/^\/(v1|a2a)\//.test(path))).toBe(true);
    expect(older.routes.every(({ path }) => path.startsWith("/v1/"))).toBe(true);
    expect(plain.routes.every(({ path }) => path.startsWith("/a2a/"))).toBe(true);
    const routes = families().flatMap((family) => family.routes);
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
  });

  it("accept GET and POST for subscribe", () => {
    for (const { routes } of families().slice(0, 2)) {
      const verbs = routes.filter(({ operation }) => operation === "subscribe").map(({ method }) => method);
      expect(verbs.toSorted()).toEqual(["GET", "POST"]);
    }
  });

  it("have tenants only in 1.0", () => {
    expect(families().map(({ tenants }) => tenants)).toEqual([true, false, false, false]);
  });
});

describe("The dialect of a REST request", () => {
  it("is that of its path", () => {
    const [newer, older, plain] = families();
    for (const requested of [undefined, "1.0", "0.3", "0.2", "0.1"]) {
      expect(answer(newer, requested, PROTO)).toBe("1.0/rest");
    }
    for (const requested of [undefined, "0.3", "0.2", "0.1"]) {
      expect(answer(older, requested, PROTO)).toBe("0.3/rest-proto");
    }
    expect(answer(older, "0.2", JSON_STYLE)).toBe("0.3/rest-json");
    expect(answer(older, "1.0", JSON_STYLE)).toBe("1.0/rest method-not-found");
    for (const requested of [undefined, "1.0", "0.2", "2.0"]) expect(answer(plain, requested, {})).toBe("plain");
  });

  it("is that of 0.2 for the path of its extended card", () => {
    const [, , , card] = families();
    for (const requested of [undefined, "0.2", "0.1"]) expect(answer(card, requested)).toBe("0.2/rest");
    expect(answer(card, "0.3")).toBe("0.3/rest-proto method-not-found");
    expect(answer(card, "1.0")).toBe("1.0/rest method-not-found");
    expect(answer(families({ lenient: true })[3], "1.0")).toBe("0.2/rest");
  });

  it("is that of its path against A2A-Version if the server is lenient; a strict server requires the header for 1.0", () => {
    const [, lenient] = families({ lenient: true });
    expect(answer(lenient, "1.0", JSON_STYLE)).toBe("0.3/rest-json");
    const [strict, strictOlder] = families({ lenient: false });
    expect(answer(strictOlder, "0.1", PROTO)).toBe("0.2/rest method-not-found");
    expect(answer(strictOlder, "0.2", PROTO)).toBe("0.3/rest-proto");
    expect(answer(strict, "1.0")).toBe("1.0/rest");
    expect(answer(strict, undefined, JSON_STYLE)).toBe("0.3/rest-json method-not-found");
    expect(answer(strict, "0.3", PROTO)).toBe("0.3/rest-proto method-not-found");
  });

  it("is the newest one for the refusal of an unsupported version", () => {
    for (const family of families().slice(0, 2))
      expect(answer(family, "0.5", PROTO)).toBe("1.0/rest version-not-supported");
  });

  it("has the style of the body, without a body that of the option restStyle", () => {
    const [, older] = families();
    expect(answer(older, undefined, PROTO)).toBe("0.3/rest-proto");
    expect(answer(older, undefined, JSON_STYLE)).toBe("0.3/rest-json");
    const [, json] = families({ restStyle: "json" });
    for (const body of [undefined, null, "text", 5, [], {}]) {
      expect(answer(older, undefined, body)).toBe("0.3/rest-proto");
      expect(answer(json, undefined, body)).toBe("0.3/rest-json");
    }
    expect(answer(json, undefined, PROTO)).toBe("0.3/rest-proto");
  });

  it("is the next newer one with REST if the requested version has no REST", () => {
    const [newer] = createDialects({ versions: ["1.0", "0.1"], lenient: false }).restFamilies;
    if (newer === undefined) throw new Error("There is one family.");
    expect(answer(newer, "0.1")).toBe("1.0/rest method-not-found");
  });
});
