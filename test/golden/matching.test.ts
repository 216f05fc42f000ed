import { describe, expect, it } from "vitest";
import { Placeholders } from "./matching.ts";

const ID = "0197f0a1-2b3c-7d4e-8f50-0123456789ab";
const OTHER_ID = "0197f0a1-2b3c-7d4e-8f50-0123456789ac";

describe("placeholders", () => {
  it.each([
    ["$any", { whatever: 1 }],
    ["$time", "2030-01-31T12:00:00.000Z"],
    ["$id", ID],
    [{ $oneOf: ["submitted", "working"] }, "working"],
    [
      [{ id: "$id" }, "as it is"],
      [{ id: ID }, "as it is"],
    ],
  ])("%j matches %j", (expected, actual) => {
    expect(new Placeholders().settle(expected, actual)).toEqual(actual);
  });

  it.each([
    ["$any", undefined],
    ["$time", "2030-01-31"],
    ["$time", 1_900_000_000_000],
    ["$id", "mine"],
    [{ $oneOf: ["submitted", "working"] }, "failed"],
    [{ id: "$id" }, { id: ID, more: true }],
    [["$id", "$id"], [ID]],
  ])("%j does not match %j", (expected, actual) => {
    expect(new Placeholders().settle(expected, actual)).not.toEqual(actual);
  });

  it("keep the first id of a name", () => {
    const placeholders = new Placeholders();
    expect(placeholders.settle(["$id task", "$id task"], [ID, ID])).toEqual([ID, ID]);
    expect(placeholders.settle("$id task", OTHER_ID)).toBe(ID);
    expect(placeholders.settle("$id other", OTHER_ID)).toBe(OTHER_ID);
    expect(placeholders.fill({ params: ["$id task", "$id other", "$id unheard"] })).toEqual({
      params: [ID, OTHER_ID, "$id unheard"],
    });
  });
});
