import { describe } from "vitest";
import { describeGolden } from "./describe-golden.ts";

// Of clients of this version none is left to be tried, so what they say and hear is written down.
describe("Version 0.1, word for word", () => {
  describeGolden("v0_1");
});
