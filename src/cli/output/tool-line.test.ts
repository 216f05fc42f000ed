import { expect, test } from "vitest";
import { toolFailure, toolResultPart, toolUsePart } from "../../protocol/tool-part.ts";
import { toolLine } from "./tool-line.ts";

test("a tool call, its result and its failure are one line each", () => {
  const call = toolUsePart({ toolUseId: "c1", name: "search", input: { q: "x" } });
  expect(toolLine(call, false)).toEqual({ label: "Tool call", text: 'search {"q":"x"} (c1)' });
  expect(toolLine(toolUsePart({ toolUseId: "c2", name: "now" }), false)?.text).toBe("now {} (c2)");
  const result = toolResultPart({ toolUseId: "c1", result: ["a"] });
  expect(toolLine(result, false)).toEqual({ label: "Tool result", text: '["a"] (c1)' });
  const failure = toolResultPart({ toolUseId: "c1", result: toolFailure("No network.") });
  expect(toolLine(failure, false)).toEqual({ label: "Tool error", text: "No network. (c1)" });
});

test("a long result is shortened, unless everything is printed", () => {
  const long = toolResultPart({ toolUseId: "c1", result: "x".repeat(1000) });
  expect(toolLine(long, false)?.text).toBe(`${"x".repeat(200)}… (c1)`);
  expect(toolLine(long, true)?.text).toBe(`${"x".repeat(1000)} (c1)`);
});

test("other parts are not tool lines", () => {
  expect(toolLine({ text: "tool-use" }, false)).toBeUndefined();
  expect(toolLine({ data: { toolUseId: "x", name: "y" } }, false)).toBeUndefined();
});
