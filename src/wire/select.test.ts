import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/error.ts";
import { selectCodec, VERSIONS } from "./select.ts";

describe("The version of a call", () => {
  it.each([undefined, "", " ", "1.0", " 1.0 ", "1.0.0", "1.0.1"])("is 1.0 when %j is asked for", (requested) => {
    expect(selectCodec(requested, "SendMessage").version).toBe("1.0");
  });

  it.each([
    "99.0",
    "0.3",
    "0.2.6",
    "2.0",
    "1.1",
    "1",
    "v1.0",
    "1.0beta",
    "1.0.0.0",
    "garbage",
    "1,0",
    "9".repeat(5000),
  ])("is refused when %j is asked for", (requested) => {
    const choose = (): unknown => selectCodec(requested, "SendMessage");
    expect(choose).toThrow(A2AError);
    expect(choose).toThrow(
      expect.objectContaining({
        code: "version-not-supported",
        metadata: { supportedVersions: VERSIONS.join(",") },
      }),
    );
  });

  it("is told even where the method is of no version, so that the refusal has a form", () => {
    const codec = selectCodec(undefined, "tasks/get");
    expect(codec.operationOf("tasks/get")).toBeUndefined();
  });
});
