import { describe, expect, it } from "vitest";
import { processorTime } from "../../internal/test/processor-time.ts";
import { cardPlaces } from "./card-places.ts";

const CARD = "/.well-known/agent-card.json";

describe("The URLs that are searched for a card", () => {
  it.each([
    ["/", [""]],
    ["/a", ["/a", ""]],
    ["/a/b/c", ["/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/", ["/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/d", ["/a/b/c/d", "/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/d/e", ["/a/b/c/d/e", "/a/b/c/d", "/a/b/c", "/a/b", ""]],
  ])("for %s are below %j", (path, expected) => {
    const paths = cardPlaces(new URL(path, "https://a.example")).map(({ url }) => url.pathname);
    expect(paths.filter((found) => found.endsWith(CARD))).toEqual(expected.map((place) => place + CARD));
  });

  it.each([
    ["/a2a/echo", "/.well-known/echo/agent-card.json"],
    ["/x/y/a2a/echo/", "/x/y/.well-known/echo/agent-card.json"],
  ])("for %s include %s, as VoltAgent serves it", (path, expected) => {
    const paths = cardPlaces(new URL(path, "https://a.example")).map(({ url }) => url.pathname);
    expect(paths).toContain(expected);
  });

  it.each(["/", "/a"])("are computed in linear time for a long path of %j", (unit) => {
    const ofLength = (length: number): URL => new URL(`https://a.example/${unit.repeat(length / unit.length)}x`);
    const [short, long] = [ofLength(1000), ofLength(10_000)];
    const shortTime = processorTime(() => cardPlaces(short));
    // Quadratic time would be 100 times as long.
    expect(processorTime(() => cardPlaces(long), 3) / shortTime).toBeLessThan(40);
  });
});
