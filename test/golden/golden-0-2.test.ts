import { describe } from "vitest";
import { describeGolden } from "./describe-golden.ts";

// Operations of 0.2 that no available client uses, although the version defines them.
describe("Version 0.2, exact requests and responses", () => {
  describeGolden("v0_2");
});
