import { describe, expect, it } from "vitest";
import { pasteable, programName } from "./program-name.ts";

describe("programName", () => {
  it.each([
    ["directly", {}, "palaver"],
    ["by npx", { npm_command: "exec", npm_lifecycle_event: "npx" }, "npx palaver"],
    ["by another npm script", { npm_command: "start", npm_lifecycle_event: "start" }, "npx palaver"],
    ["by the npm script of that name", { npm_command: "run", npm_lifecycle_event: "palaver" }, "npm run -s palaver --"],
  ])("detects a program that was started %s", (_, env, name) => {
    expect(programName(env)).toBe(name);
  });
});

describe("a command in a text", () => {
  it("starts with the name under which the program was started", () => {
    expect(pasteable("See: palaver task list -a x, or palaver help send", "npx palaver")).toBe(
      "See: npx palaver task list -a x, or npx palaver help send",
    );
  });

  it("is replaced; the word palaver elsewhere is not", () => {
    const text = "palaver: palaver is a word; /palaver task; npm install palaver";
    expect(pasteable("palaver: palaver is a word; npm install palaver", "npx palaver")).toBe(
      "palaver: palaver is a word; npm install palaver",
    );
    expect(pasteable(text, "palaver")).toBe(text);
  });
});
