import { expect, test } from "vitest";
import { askBySchema, type Form } from "./form.ts";

/** Answers with these lines, and keeps the questions, the notes, and which questions were hidden. */
function scripted(...lines: readonly string[]): Form & { asked: string[]; notes: string[]; hidden: string[] } {
  const form: Form & { asked: string[]; notes: string[]; hidden: string[] } = {
    asked: [],
    notes: [],
    hidden: [],
    prompt: async (question, options) => {
      form.asked.push(question);
      if (options?.hidden === true) form.hidden.push(question);
      return left.shift();
    },
    note: (line) => void form.notes.push(line),
  };
  const left = [...lines];
  return form;
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
  const form = scripted("huge", "large", "1.5", "2", "yes", "");
  expect(await askBySchema(order, form)).toEqual({ size: "large", count: 2, gift: true });
  expect(form.asked).toEqual([
    "size (1-2): ",
    "size (1-2): ",
    "count (number; How many?): ",
    "count (number; How many?): ",
    "gift (yes or no; default false): ",
    "note (string; optional): ",
  ]);
  expect(form.notes).toEqual([
    "size",
    "  1) small",
    "  2) large",
    "This is not one of the choices.",
    "This must be a whole number.",
  ]);
});

test("a choice is made by its number, its name in any case, or its beginning", async () => {
  const colours = { enum: ["red", "green", "grey"] };
  for (const [line, value] of [
    ["2", "green"],
    ["GREY", "grey"],
    ["r", "red"],
  ])
    expect(await askBySchema(colours, scripted(line ?? "")), line).toBe(value);
  expect(await askBySchema(colours, scripted("gre", "9", "red"))).toBe("red");
  expect(await askBySchema({ enum: [2, 1] }, scripted("1"))).toBe(1);
  const titled = { oneOf: [{ const: "y", title: "Yes, please" }, { const: "n" }] };
  expect(await askBySchema(titled, scripted("yes"))).toBe("y");
});

test("secret fields are hidden", async () => {
  const form = scripted("ada", "hunter2");
  const schema = { properties: { name: { type: "string" }, password: { type: "string", format: "password" } } };
  expect(await askBySchema(schema, form)).toEqual({ name: "ada", password: "hunter2" });
  expect(form.hidden).toEqual(["password (string; optional): "]);
});

test("an empty line takes the default", async () => {
  expect(await askBySchema(order, scripted("small", "1", "", "thanks"))).toEqual({
    size: "small",
    count: 1,
    gift: false,
    note: "thanks",
  });
});

test("the end of the input leaves the question open", async () => {
  expect(await askBySchema(order, scripted("small"))).toBeUndefined();
});

test("anything but an object is asked for at once", async () => {
  expect(await askBySchema({ type: "number" }, scripted("many", "3"))).toBe(3);
  expect(await askBySchema({}, scripted("plain text"))).toBe("plain text");
  expect(await askBySchema({ type: "array" }, scripted("{}", "[1]"))).toEqual([1]);
});

test("control characters of a schema do not reach the terminal", async () => {
  const form = scripted("x");
  await askBySchema({ type: "string", description: "\u001b[2Jcleared" }, form);
  expect(form.asked[0]).not.toContain("\u001b");
});
