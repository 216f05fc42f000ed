import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { readPage } from "./code-blocks.ts";

describe("the table of frameworks", () => {
  it.each([
    ["fromAiSdk", "ai-sdk"],
    ["fromLangGraph", "langgraph"],
    ["fromOpenAIAgents", "openai-agents"],
  ])("states how many lines the example with %s has", (name, file) => {
    const source = readFileSync(join(ROOT, "frameworks", "examples", `${file}.ts`), "utf8");
    const lines = source.split("\n").filter((line) => line.trim() !== "");
    const declaration = lines.slice(lines.findIndex((line) => line.includes(`export default ${name}(`)));
    const forPalaver = lines.filter((line) => line.includes('from "palaver/')).length + declaration.length;
    const row = readPage("docs/guide/frameworks.md")
      .split("\n")
      .find((line) => line.includes(`\`${name}(`));
    expect(row?.split("|").slice(4, 6).map(Number)).toEqual([lines.length, forPalaver]);
  });
});
