import { describe, expect, it } from "vitest";
import { type ToolTarget, toolNames } from "./tool-names.ts";

describe("names of tools", () => {
  it("are the ids of the agent and the skill", () => {
    expect(toolNames([{ agent: "echo" }, { agent: "town", skill: "book table" }])).toEqual(["echo", "town_book_table"]);
  });

  it("that would be equal all end with a hash, whatever the order", () => {
    const targets: readonly ToolTarget[] = [
      { agent: "a", skill: "b.c" },
      { agent: "a", skill: "b/c" },
      { agent: "a_b", skill: "c" },
      { agent: "a_b_c" },
    ];
    const names = toolNames(targets);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(toolNames(targets.toReversed()).toReversed()).toEqual(names);
  });

  it("that belong to other tools are not taken", () => {
    expect(toolNames([{ agent: "answer_agent" }], ["answer_agent"])).toEqual([
      expect.stringMatching(/^answer_agent_[0-9a-f]{8}$/),
    ]);
  });

  it("have at most 64 characters, and differ where the ids do", () => {
    const names = toolNames(["x", "y"].map((last) => ({ agent: `${"a".repeat(80)}${last}` })));
    expect(names.map(({ length }) => length)).toEqual([64, 64]);
    expect(names[0]).not.toBe(names[1]);
  });
});
