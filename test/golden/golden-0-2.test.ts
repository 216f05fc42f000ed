import { describe } from "vitest";
import { describeGolden } from "./describe-golden.ts";

// What no client of this version asks for that could be tried, although the version has it.
describe("Version 0.2, word for word", () => {
  describeGolden("v0_2");
});
