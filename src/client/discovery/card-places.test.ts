import { describe, expect, it } from "vitest";
import { processorTime } from "../../internal/test/processor-time.ts";
import { cardPlaces } from "./card-places.ts";

const CARD = "/.well-known/agent-card.json";

describe("Where a card is looked for", () => {
  it.each([
    ["/", [""]],
    ["/a", ["/a", ""]],
    ["/a/b/c", ["/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/", ["/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/d", ["/a/b/c/d", "/a/b/c", "/a/b", "/a", ""]],
    ["/a/b/c/d/e", ["/a/b/c/d/e", "/a/b/c/d", "/a/b/c", "/a/b", ""]],
  ])("of %s: below %j", (path, expected) => {
    const paths = cardPlaces(new URL(path, "https://a.example")).map(({ url }) => url.pathname);
    expect(paths.filter((found) => found.endsWith(CARD))).toEqual(expected.map((place) => place + CARD));
  });

  it.each([
    ["/a2a/echo", "/.well-known/echo/agent-card.json"],
    ["/x/y/a2a/echo/", "/x/y/.well-known/echo/agent-card.json"],
  ])("of %s: also at %s, where VoltAgent has it", (path, expected) => {
    const paths = cardPlaces(new URL(path, "https://a.example")).map(({ url }) => url.pathname);
    expect(paths).toContain(expected);
  });

  it.each(["/", "/a"])("takes time in proportion to the length of an address of many %j", (unit) => {
    const ofLength = (length: number): URL => new URL(`https://a.example/${unit.repeat(length / unit.length)}x`);
    const [short, long] = [ofLength(1000), ofLength(10_000)];
    const shortTime = processorTime(() => cardPlaces(short));
    // 100 times, if it grew with the square.
    expect(processorTime(() => cardPlaces(long), 3) / shortTime).toBeLessThan(40);
  });
});
