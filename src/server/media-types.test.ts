import { describe, expect, it } from "vitest";
import { type AgentDefinition, agent } from "../engine/agent/agent.ts";
import type { MessageId } from "../protocol/ids.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import { checkMediaTypes, compatible } from "./media-types.ts";

const run = async (): Promise<void> => {};

function check(
  definition: Partial<AgentDefinition>,
  parts: readonly Part[],
  request: Partial<SendRequest> = {},
): string {
  const subject = agent({ name: "a", description: "a", version: "1", run, ...definition });
  const message = { messageId: "m" as MessageId, role: "user" as const, parts };
  const base: SendRequest = {
    operation: "send",
    tenant: "",
    message,
    metadata: {},
    outputModes: [],
    history: undefined,
    waitMs: 0,
  };
  try {
    checkMediaTypes(subject, { ...base, ...request });
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const REFUSED = "content-type-not-supported";
const text: Part = { text: "x" };
const data: Part = { data: null };
const file: Part = { raw: "", mediaType: "image/png" };
const skill = { name: "s", description: "s", tags: ["s"] };

describe("Media types", () => {
  it("are all accepted by an agent that declares none", () => {
    expect(check({}, [text, data, file, { url: "x" }])).toBe("ok");
  });

  it.each([
    [["text/plain"], [text], "ok"],
    [["text/plain"], [data], REFUSED],
    [["text/plain"], [text, file], REFUSED],
    [["application/json"], [data], "ok"],
    [["image/*"], [file], "ok"],
    [["*/*"], [text, data, file], "ok"],
    [["IMAGE/PNG; q=1"], [file], "ok"],
    [["text/plain"], [{ text: "x", mediaType: "text/markdown" }], REFUSED],
    [["text/plain"], [{ raw: "" }], "ok"],
  ] as const)("declared as %j meet %j: %s", (inputModes, parts, expected) => {
    expect(check({ inputModes }, parts)).toBe(expected);
  });

  it("of a selected skill replace the agent's", () => {
    const skills = [{ id: "draw", ...skill, inputModes: ["image/png"], outputModes: ["image/svg+xml"] }];
    const definition = { skills, inputModes: ["text/plain"], outputModes: ["text/plain"] };
    expect(check(definition, [file])).toBe("ok");
    expect(check(definition, [file], { metadata: { skillId: "draw" } })).toBe("ok");
    expect(check(definition, [text], { metadata: { skillId: "draw" } })).toBe(REFUSED);
    expect(check(definition, [text], { outputModes: ["image/*"] })).toBe("ok");
    expect(check(definition, [file], { metadata: { skillId: "draw" }, outputModes: ["text/plain"] })).toBe(REFUSED);
  });

  it("of a selected skill without modes are the agent's, not those of other skills", () => {
    const skills = [
      { id: "talk", ...skill },
      { id: "draw", ...skill, inputModes: ["image/png"], outputModes: ["image/svg+xml"] },
    ];
    const definition = { skills, inputModes: ["text/plain"], outputModes: ["text/plain"] };
    const metadata = { skillId: "talk" };
    expect(check(definition, [text], { metadata, outputModes: ["text/plain"] })).toBe("ok");
    expect(check(definition, [file], { metadata })).toBe(REFUSED);
    expect(check(definition, [text], { metadata, outputModes: ["image/*"] })).toBe(REFUSED);
    expect(check({ skills }, [text, file], { metadata })).toBe("ok");
    expect(check({ skills }, [text], { metadata, outputModes: ["image/*"] })).toBe(REFUSED);
    // An unknown skill id selects no skill.
    expect(check(definition, [file], { metadata: { skillId: "sing" } })).toBe("ok");
  });

  it.each([
    [["text/plain"], "ok"],
    [["text"], "ok"],
    [["*/*"], "ok"],
    [["image/png", "application/*"], "ok"],
    [["image/png"], REFUSED],
    [["nonsense"], REFUSED],
  ])("requested as %j from an agent without declared modes: %s", (outputModes, expected) => {
    expect(check({}, [text], { outputModes })).toBe(expected);
  });

  it("are compared in both directions", () => {
    for (const [one, other, expected] of [
      ["text/*", "text/plain", true],
      ["text/*", "*/*", true],
      ["text/plain;charset=utf-8", "TEXT/plain", true],
      ["text/plain", "text/html", false],
      ["text/*", "image/*", false],
    ] as const) {
      expect(compatible(one, other)).toBe(expected);
      expect(compatible(other, one)).toBe(expected);
    }
  });
});
