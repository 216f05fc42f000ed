import { describe, expect, it } from "vitest";
import { compareStories } from "./compare-stories.ts";

const LOG = ["1 status working", "2 artifact a", "3 artifact b", "4 artifact c", "5 status completed"];

function compare(seen: readonly string[], isPartial = false) {
  return compareStories({ task: "t", who: "reader", expected: LOG, seen, isPartial });
}

const kindsOf = (seen: readonly string[], isPartial = false) => compare(seen, isPartial).map(({ kind }) => kind);

describe("comparing received events with the log", () => {
  it("reports nothing if they are equal", () => {
    expect(compare(LOG)).toEqual([]);
  });

  it("accepts an early end only if the record is partial", () => {
    expect(kindsOf(LOG.slice(0, 3), true)).toEqual([]);
    expect(kindsOf(LOG.slice(0, 3))).toEqual(["lost"]);
  });

  it.each([0, 1, 2, 3, 4])("reports that event %i was lost", (index) => {
    expect(kindsOf(LOG.toSpliced(index, 1))).toEqual(["lost"]);
  });

  it.each([0, 1, 2, 3, 4])("reports that event %i was repeated", (index) => {
    expect(kindsOf(LOG.toSpliced(index, 0, LOG[index] ?? ""))).toEqual(["repeated"]);
  });

  it.each([0, 1, 2, 3])("reports that events %i and the next were swapped", (index) => {
    const swapped = LOG.toSpliced(index, 2, LOG[index + 1] ?? "", LOG[index] ?? "");
    expect(kindsOf(swapped)).toEqual(["out-of-order"]);
  });

  it("reports a changed event", () => {
    expect(kindsOf(LOG.with(2, "3 artifact x"))).toEqual(["lost", "changed"]);
  });

  it("reports a gap and a repeated event in a partial record", () => {
    expect(kindsOf([LOG[0] ?? "", LOG[2] ?? ""], true)).toEqual(["lost"]);
    expect(kindsOf([LOG[0] ?? "", LOG[0] ?? ""], true)).toEqual(["repeated"]);
  });

  it("shows where the first difference is", () => {
    const [lost] = compare(LOG.toSpliced(3, 1));
    expect(lost?.what).toBe("1 of 5 events lost, first 4 artifact c");
    expect(lost?.expected).toContain("4  4 artifact c");
    expect(lost?.seen).toContain("4  5 status completed");
  });
});
