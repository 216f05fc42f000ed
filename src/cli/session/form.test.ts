import { expect, test } from "vitest";
import { askBySchema } from "./form.ts";

/** Answers with these lines, and keeps the questions. */
function scripted(...lines: readonly string[]): {
  asked: string[];
  prompt: (question: string) => Promise<string | undefined>;
} {
  const asked: string[] = [];
  const left = [...lines];
  return {
    asked,
    prompt: async (question) => {
      asked.push(question);
      return left.shift();
    },
  };
}

const order = {
  type: "object",
  properties: {
    size: { enum: ["small", "large"] },
    count: { type: "integer", description: "How many?" },
    gift: { type: "boolean", default: false },
    note: { type: "string" },
  },
  required: ["size", "count", "gift"],
};

test("an object is asked for field by field, and a field again until it has its type", async () => {
  const { asked, prompt } = scripted("huge", "large", "1.5", "2", "yes", "");
  expect(await askBySchema(order, prompt)).toEqual({ size: "large", count: 2, gift: true });
  expect(asked).toEqual([
    'size ("small" | "large"): ',
    'size ("small" | "large"): ',
    "count (number; How many?): ",
    "count (number; How many?): ",
    "gift (boolean; default false): ",
    "note (string; optional): ",
  ]);
});

test("an empty line takes the default", async () => {
  expect(await askBySchema(order, scripted("small", "1", "", "thanks").prompt)).toEqual({
    size: "small",
    count: 1,
    gift: false,
    note: "thanks",
  });
});

test("the end of the input leaves the question open", async () => {
  expect(await askBySchema(order, scripted("small").prompt)).toBeUndefined();
});

test("anything but an object is asked for at once", async () => {
  expect(await askBySchema({ type: "number" }, scripted("many", "3").prompt)).toBe(3);
  expect(await askBySchema({}, scripted("plain text").prompt)).toBe("plain text");
  expect(await askBySchema({ type: "array" }, scripted("{}", "[1]").prompt)).toEqual([1]);
});

test("control characters of a schema do not reach the terminal", async () => {
  const { asked, prompt } = scripted("x");
  await askBySchema({ type: "string", description: "\u001b[2Jcleared" }, prompt);
  expect(asked[0]).not.toContain("\u001b");
});
