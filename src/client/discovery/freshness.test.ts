import { describe, expect, it } from "vitest";
import {
  ageOf,
  cacheDirectives,
  conditionsFor,
  confirmed,
  isFresh,
  type KeptAnswer,
  lifetimeOf,
  mayKeep,
  mayServeStale,
  variesBy,
} from "./freshness.ts";

const NOW = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;

type Fields = Readonly<Record<string, string>>;

function kept(headers: Fields, { requestedAt = NOW, receivedAt = NOW }: Partial<KeptAnswer> = {}): KeptAnswer {
  return { headers: new Headers(headers), requestedAt, receivedAt };
}

function date(time: number): string {
  return new Date(time).toUTCString();
}

describe("cacheDirectives", () => {
  it.each([
    [null, {}],
    ["", {}],
    ["max-age=60, Must-Revalidate", { "max-age": "60", "must-revalidate": "" }],
    ['private="set-cookie, x", max-age = "60"', { private: "set-cookie, x", "max-age": "60" }],
    ["max-age=1, max-age=2", { "max-age": "1" }],
    [",, ;no-store ,,", { "no-store": "" }],
  ])("reads %j", (header, expected) => {
    expect(Object.fromEntries(cacheDirectives(header))).toEqual(expected);
  });
});

describe("how long an answer is fresh", () => {
  it.each<[string, Fields, number]>([
    ["by default where nothing is said", {}, 5 * MINUTE],
    ["by default where only validators come", { etag: '"a"', "last-modified": date(NOW) }, 5 * MINUTE],
    ["as max-age says", { "cache-control": "max-age=60" }, MINUTE],
    ["as max-age says, before Expires", { "cache-control": "max-age=60", expires: date(NOW) }, MINUTE],
    ["not as s-maxage says, which is for shared caches", { "cache-control": "s-maxage=9, max-age=60" }, MINUTE],
    ["by default with s-maxage alone", { "cache-control": "s-maxage=9" }, 5 * MINUTE],
    ["not at all with max-age of nonsense", { "cache-control": "max-age=soon" }, 0],
    ["for years at most", { "cache-control": "max-age=99999999999999999999" }, 2 ** 31 * 1000],
    ["as Expires says", { date: date(NOW), expires: date(NOW + MINUTE) }, MINUTE],
    ["not at all with Expires of nonsense", { date: date(NOW), expires: "0" }, 0],
    ["not at all with Expires past", { date: date(NOW), expires: date(NOW - MINUTE) }, 0],
    ["not at all with no-cache", { "cache-control": "no-cache, max-age=60" }, 0],
    ["not at all with the old way to say so", { pragma: "no-cache" }, 0],
    ["as Cache-Control says, whatever the old way says", { pragma: "no-cache", "cache-control": "max-age=60" }, MINUTE],
  ])("%s", (_what, headers, expected) => {
    expect(lifetimeOf(new Headers(headers), 5 * MINUTE)).toBe(expected);
  });
});

describe("how old an answer is", () => {
  it.each<[string, KeptAnswer, number, number]>([
    ["new", kept({}), NOW, 0],
    ["as long as it is kept", kept({}), NOW + 5000, 5000],
    ["as other caches had it", kept({ age: "30" }), NOW + 5000, 35_000],
    ["by its date", kept({ date: date(NOW - 20_000) }), NOW + 5000, 25_000],
    ["the way included, where other caches told an age", kept({ age: "30" }, { requestedAt: NOW - 2000 }), NOW, 32_000],
    ["not below nothing where clocks differ", kept({ date: date(NOW + 20_000), age: "x" }), NOW - 100, 0],
  ])("%s", (...[, answer, now, expected]) => {
    expect(ageOf(answer, now)).toBe(expected);
  });

  it("makes it stale from the very moment its time is over", () => {
    const answer = kept({ "cache-control": "max-age=60", age: "10" });
    const policy = { defaultTtl: 0, staleIfError: 0 };
    expect(isFresh(answer, NOW + 49_999, policy)).toBe(true);
    expect(isFresh(answer, NOW + 50_000, policy)).toBe(false);
  });
});

describe("an answer that is no longer fresh", () => {
  it.each<[string, Fields, number, boolean]>([
    ["serves as long as the cache is told", { "cache-control": "max-age=0" }, 10 * MINUTE - 1, true],
    ["serves no longer", { "cache-control": "max-age=0" }, 10 * MINUTE, false],
    ["serves as long as it allows itself", { "cache-control": "max-age=0, stale-if-error=3600" }, 59 * MINUTE, true],
    ["does not serve where it must be asked about", { "cache-control": "max-age=0, must-revalidate" }, 1, false],
    ["does not serve with no-cache", { "cache-control": "no-cache" }, 1, false],
  ])("%s", (...[, headers, later, expected]) => {
    const policy = { defaultTtl: 5 * MINUTE, staleIfError: 10 * MINUTE };
    expect(mayServeStale(kept(headers), NOW + later, policy)).toBe(expected);
  });

  it("is asked about by what it brought", () => {
    const modified = date(NOW);
    expect(conditionsFor(new Headers({ etag: 'W/"a"', "last-modified": modified }))).toEqual({
      "if-none-match": 'W/"a"',
      "if-modified-since": modified,
    });
    expect(conditionsFor(new Headers())).toEqual({});
  });

  it("takes the headers of the answer that confirms it, but not those of a content", () => {
    const headers = confirmed(
      new Headers({ etag: '"a"', age: "100", "content-type": "application/json", "cache-control": "max-age=1" }),
      new Headers({ "cache-control": "max-age=60", "content-type": "text/html", "content-length": "0" }),
    );
    expect(Object.fromEntries(headers)).toEqual({
      etag: '"a"',
      "content-type": "application/json",
      "cache-control": "max-age=60",
    });
  });
});

describe("what may be kept", () => {
  it.each<[Fields, boolean]>([
    [{}, true],
    [{ "cache-control": "private" }, true],
    [{ "cache-control": "no-cache" }, true],
    [{ "cache-control": "no-store" }, false],
    [{ "cache-control": "max-age=60, No-Store" }, false],
    [{ vary: "A2A-Version, *" }, false],
  ])("%j: %s", (headers, expected) => {
    expect(mayKeep(new Headers(headers))).toBe(expected);
  });

  it("depends on the headers that Vary names", () => {
    expect(variesBy(new Headers({ vary: "A2A-Version ,accept,," }))).toEqual(["a2a-version", "accept"]);
  });
});
