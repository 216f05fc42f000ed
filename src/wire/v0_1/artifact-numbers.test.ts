import { describe, expect, it } from "vitest";
import { ArtifactNumbers } from "./artifact-numbers.ts";

describe("The numbers of a task's artifacts", () => {
  it("start at 0, in the order of first appearance", () => {
    const numbers = new ArtifactNumbers(undefined);
    expect(["b", "a", "b", "__proto__", "a"].map((id) => numbers.of(id))).toEqual([0, 1, 0, 2, 1]);
  });

  it("continue after the artifacts that the task already has", () => {
    const numbers = new ArtifactNumbers('[{"artifactId":"x","parts":[]},{"artifactId":"y","parts":[]}]');
    expect(["z", "y", "x"].map((id) => numbers.of(id))).toEqual([2, 1, 0]);
  });
});
