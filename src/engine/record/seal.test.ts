import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSealer, SealBroken } from "./seal.ts";

const secret = randomBytes(32);
const sealer = createSealer(secret);

describe("createSealer", () => {
  test("opens what it sealed, also after a restart with the same secret", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (plain, context) => {
        const sealed = sealer.seal(plain, context);
        expect(sealed).toMatch(/^[\w-]+$/);
        expect(createSealer(secret).open(sealed, context)).toBe(plain);
      }),
    );
  });

  test("the sealed text contains nothing of the plain text and is different each time", () => {
    const sealed = sealer.seal("hunter2 hunter2", "task");
    expect(Buffer.from(sealed, "base64url").includes("hunter2")).toBe(false);
    expect(sealer.seal("hunter2 hunter2", "task")).not.toBe(sealed);
  });

  test("does not open for another context or with another secret", () => {
    const sealed = sealer.seal("secret", "task-1");
    expect(() => sealer.open(sealed, "task-2")).toThrow(SealBroken);
    expect(() => createSealer(randomBytes(32)).open(sealed, "task-1")).toThrow(SealBroken);
  });

  test("does not open if a character was changed, removed or added", () => {
    const sealed = sealer.seal("secret", "task");
    for (let index = 0; index < sealed.length; index += 1) {
      const other = sealed[index] === "A" ? "B" : "A";
      expect(() => sealer.open(sealed.slice(0, index) + other + sealed.slice(index + 1), "task")).toThrow(SealBroken);
      expect(() => sealer.open(sealed.slice(0, index) + sealed.slice(index + 1), "task")).toThrow(SealBroken);
      expect(() => sealer.open(sealed.slice(0, index), "task")).toThrow(SealBroken);
    }
    expect(() => sealer.open(`${sealed}!`, "task")).toThrow(SealBroken);
    expect(() => sealer.open("not sealed at all", "task")).toThrow(SealBroken);
  });

  test("the error has a code and does not contain the text", () => {
    const error = (() => {
      try {
        return sealer.open("AAAA", "task");
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ name: "SealBroken", code: "seal-broken" });
  });

  test("throws for a secret that is too short", () => {
    expect(() => createSealer(new Uint8Array(8))).toThrow(TypeError);
  });
});
