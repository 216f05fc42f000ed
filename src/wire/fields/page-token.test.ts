import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/error.ts";
import { decodeIdToken, decodePageToken, encodeIdToken, encodePageToken } from "./page-token.ts";

describe("A page token", () => {
  it("decodes to the encoded position", () => {
    const position = fc.record({
      at: fc.nat({ max: 9_000_000_000_000_000 }),
      id: fc.string({ minLength: 1, maxLength: 64, unit: "grapheme" }).filter((id) => id.length <= 256),
    });
    fc.assert(
      fc.property(position, (original) => {
        const token = encodePageToken(original);
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodePageToken(token, "pageToken")).toEqual(original);
      }),
    );
  });

  it.each(["漢".repeat(256), "😀".repeat(128), "x".repeat(256)])(
    "holds the longest id, whatever it is made of",
    (id) => {
      const latest = { at: Number.MAX_SAFE_INTEGER, id };
      expect(decodePageToken(encodePageToken(latest), "pageToken")).toEqual(latest);
      expect(decodeIdToken(encodeIdToken(id), "pageToken")).toBe(id);
    },
  );

  it("is refused if this server did not create it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/)), (token) => {
        try {
          expect(encodePageToken(decodePageToken(token, "pageToken"))).toBe(token);
        } catch (error) {
          if (!(error instanceof A2AError)) throw error;
        }
      }),
    );
  });
});
