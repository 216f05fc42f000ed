import { expect, test } from "vitest";
import { sharedAttributes } from "./shared-attributes.ts";

const make = sharedAttributes((agent, turn) => ({ agent, turn }));

test("attributes of the same values are one object, also if another key comes between", () => {
  const first = make("a", 1);
  make("b", 1);
  expect(make("a", 1)).toBe(first);
  expect(first.values).toEqual({ agent: "a", turn: 1 });
});

test("other values of the same key are another object", () => {
  const first = make("c", 1);
  expect(make("c", 2)).not.toBe(first);
  expect(make("c", 2).values).toEqual({ agent: "c", turn: 2 });
});

test("hostile keys do not fill the memory: beyond the limit attributes are made anew", () => {
  for (let i = 0; i < 1000; i += 1) make(`many-${i}`);
  expect(make("many-999")).not.toBe(make("many-999"));
});
