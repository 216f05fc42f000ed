import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { PRINTED } from "./printed/run.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const names = Object.keys(PRINTED);

it("each file of printed programs is listed with its section", () => {
  const files = readdirSync(here("./printed")).filter((file) => file.endsWith(".txt"));
  expect(files.toSorted()).toEqual(names.toSorted());
});

it.each(names)("%s is used by the tests of its seed", (name) => {
  const folder = here(`./seed-${name.slice(0, 3)}`);
  const texts = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, "utf8"));
  expect(texts.filter((text) => text.includes(`"${name}"`))).toHaveLength(1);
});
