import { describe, expect, it } from "vitest";
import { compareStories } from "./compare-stories.ts";

const LOG = ["1 status working", "2 artifact a", "3 artifact b", "4 artifact c", "5 status completed"];

function compare(seen: readonly string[], isPartial = false) {
  return compareStories({ task: "t", who: "reader", expected: LOG, seen, isPartial });
}

const kindsOf = (seen: readonly string[], isPartial = false) => compare(seen, isPartial).map(({ kind }) => kind);

describe("stories that are compared with the log", () => {
  it("are fine where they are the same", () => {
    expect(compare(LOG)).toEqual([]);
  });

  it("may end early only where they are partial", () => {
    expect(kindsOf(LOG.slice(0, 3), true)).toEqual([]);
    expect(kindsOf(LOG.slice(0, 3))).toEqual(["lost"]);
  });

  it.each([0, 1, 2, 3, 4])("show that event %i was lost", (index) => {
    expect(kindsOf(LOG.toSpliced(index, 1))).toEqual(["lost"]);
  });

  it.each([0, 1, 2, 3, 4])("show that event %i was repeated", (index) => {
    expect(kindsOf(LOG.toSpliced(index, 0, LOG[index] ?? ""))).toEqual(["repeated"]);
  });

  it.each([0, 1, 2, 3])("show that events %i and the next were swapped", (index) => {
    const swapped = LOG.toSpliced(index, 2, LOG[index + 1] ?? "", LOG[index] ?? "");
    expect(kindsOf(swapped)).toEqual(["out-of-order"]);
  });

  it("show that an event was changed", () => {
    expect(kindsOf(LOG.with(2, "3 artifact x"))).toEqual(["lost", "changed"]);
  });

  it("show a partial story with a gap, and one that repeats", () => {
    expect(kindsOf([LOG[0] ?? "", LOG[2] ?? ""], true)).toEqual(["lost"]);
    expect(kindsOf([LOG[0] ?? "", LOG[0] ?? ""], true)).toEqual(["repeated"]);
  });

  it("tell where the first difference is", () => {
    const [lost] = compare(LOG.toSpliced(3, 1));
    expect(lost?.what).toBe("1 of 5 events lost, first 4 artifact c");
    expect(lost?.expected).toContain("4  4 artifact c");
    expect(lost?.seen).toContain("4  5 status completed");
  });
});
