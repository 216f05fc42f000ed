import { describe } from "vitest";
import { describeGolden } from "./describe-golden.ts";

// No client of 0.1 is available for tests, so its requests and responses are recorded.
describe("Version 0.1, exact requests and responses", () => {
  describeGolden("v0_1");
});
