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
  ])("parses %j", (header, expected) => {
    expect(Object.fromEntries(cacheDirectives(header))).toEqual(expected);
  });
});

describe("the lifetime of a response", () => {
  it.each<[string, Fields, number]>([
    ["is the default without headers", {}, 5 * MINUTE],
    ["is the default with validators only", { etag: '"a"', "last-modified": date(NOW) }, 5 * MINUTE],
    ["is max-age", { "cache-control": "max-age=60" }, MINUTE],
    ["is max-age rather than Expires", { "cache-control": "max-age=60", expires: date(NOW) }, MINUTE],
    ["ignores s-maxage, which is for shared caches", { "cache-control": "s-maxage=9, max-age=60" }, MINUTE],
    ["is the default with s-maxage alone", { "cache-control": "s-maxage=9" }, 5 * MINUTE],
    ["is 0 with an invalid max-age", { "cache-control": "max-age=soon" }, 0],
    ["is at most 2^31 seconds", { "cache-control": "max-age=99999999999999999999" }, 2 ** 31 * 1000],
    ["is Expires minus Date", { date: date(NOW), expires: date(NOW + MINUTE) }, MINUTE],
    ["is 0 with an invalid Expires", { date: date(NOW), expires: "0" }, 0],
    ["is 0 with Expires in the past", { date: date(NOW), expires: date(NOW - MINUTE) }, 0],
    ["is 0 with no-cache", { "cache-control": "no-cache, max-age=60" }, 0],
    ["is 0 with Pragma: no-cache", { pragma: "no-cache" }, 0],
    ["is that of Cache-Control rather than Pragma", { pragma: "no-cache", "cache-control": "max-age=60" }, MINUTE],
  ])("%s", (_what, headers, expected) => {
    expect(lifetimeOf(new Headers(headers), 5 * MINUTE)).toBe(expected);
  });
});

describe("the age of a response", () => {
  it.each<[string, KeptAnswer, number, number]>([
    ["is 0 when it arrives", kept({}), NOW, 0],
    ["is the time since it arrived", kept({}), NOW + 5000, 5000],
    ["includes the Age header", kept({ age: "30" }), NOW + 5000, 35_000],
    ["is measured from Date", kept({ date: date(NOW - 20_000) }), NOW + 5000, 25_000],
    [
      "includes the duration of the request, with an Age header",
      kept({ age: "30" }, { requestedAt: NOW - 2000 }),
      NOW,
      32_000,
    ],
    ["is never negative if clocks differ", kept({ date: date(NOW + 20_000), age: "x" }), NOW - 100, 0],
  ])("%s", (...[, answer, now, expected]) => {
    expect(ageOf(answer, now)).toBe(expected);
  });

  it("makes it stale exactly at the end of its lifetime", () => {
    const answer = kept({ "cache-control": "max-age=60", age: "10" });
    const policy = { defaultTtl: 0, staleIfError: 0 };
    expect(isFresh(answer, NOW + 49_999, policy)).toBe(true);
    expect(isFresh(answer, NOW + 50_000, policy)).toBe(false);
  });
});

describe("a stale response", () => {
  it.each<[string, Fields, number, boolean]>([
    ["may be used for the `staleIfError` of the cache", { "cache-control": "max-age=0" }, 10 * MINUTE - 1, true],
    ["may not be used after `staleIfError`", { "cache-control": "max-age=0" }, 10 * MINUTE, false],
    [
      "may be used for its own stale-if-error",
      { "cache-control": "max-age=0, stale-if-error=3600" },
      59 * MINUTE,
      true,
    ],
    ["may not be used with must-revalidate", { "cache-control": "max-age=0, must-revalidate" }, 1, false],
    ["may not be used with no-cache", { "cache-control": "no-cache" }, 1, false],
  ])("%s", (...[, headers, later, expected]) => {
    const policy = { defaultTtl: 5 * MINUTE, staleIfError: 10 * MINUTE };
    expect(mayServeStale(kept(headers), NOW + later, policy)).toBe(expected);
  });

  it("is revalidated with its validators", () => {
    const modified = date(NOW);
    expect(conditionsFor(new Headers({ etag: 'W/"a"', "last-modified": modified }))).toEqual({
      "if-none-match": 'W/"a"',
      "if-modified-since": modified,
    });
    expect(conditionsFor(new Headers())).toEqual({});
  });

  it("takes the headers of the 304 response, except those about content", () => {
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

describe("storing a response", () => {
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

  it("is matched by the headers that Vary names", () => {
    expect(variesBy(new Headers({ vary: "A2A-Version ,accept,," }))).toEqual(["a2a-version", "accept"]);
  });
});
