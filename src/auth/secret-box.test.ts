import { compactDecrypt, decodeProtectedHeader, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { createSecretBox, encryptTo, openSecret } from "./secret-box.ts";

describe("a secret box", () => {
  test("decrypts text that was encrypted with its public key, and no other", async () => {
    const box = await createSecretBox();
    const jwe = await encryptTo(box.publicKey, "päss 🔑");
    expect(await openSecret(box, jwe)).toBe("päss 🔑");
    expect(await openSecret(await createSecretBox(), jwe)).toBeUndefined();
  });

  test("has a new public key each time, without the private part", async () => {
    const [one, other] = await Promise.all([createSecretBox(), createSecretBox()]);
    expect(Object.keys(one.publicKey).sort()).toEqual(["alg", "crv", "kty", "use", "x", "y"]);
    expect(one.publicKey.x).not.toBe(other.publicKey.x);
  });

  test("is a compact JWE with ECDH-ES and A256GCM that other libraries can decrypt", async () => {
    const { publicKey, privateKey } = await createSecretBox();
    const jwe = await encryptTo(publicKey, "x");
    expect(decodeProtectedHeader(jwe)).toMatchObject({ alg: "ECDH-ES", enc: "A256GCM" });
    const { plaintext } = await compactDecrypt(jwe, await importJWK({ ...privateKey }, "ECDH-ES"));
    expect(new TextDecoder().decode(plaintext)).toBe("x");
  });

  test("refuses text that was changed, shortened, or is not a JWE", async () => {
    const box = await createSecretBox();
    const jwe = await encryptTo(box.publicKey, "x");
    const [header = "", key = "", nonce = "", text = "", tag = ""] = jwe.split(".");
    const flipped = (part: string): string => (part.startsWith("A") ? "B" : "A") + part.slice(1);
    const wrong = [
      "",
      "....",
      jwe.slice(0, -4),
      [header, key, nonce, flipped(text), tag].join("."),
      [header, key, flipped(nonce), text, tag].join("."),
      [flipped(header), key, nonce, text, tag].join("."),
      [header, "AAAA", nonce, text, tag].join("."),
      `${jwe}.more`,
    ];
    for (const value of wrong) expect(await openSecret(box, value)).toBeUndefined();
  });

  test.each([
    {},
    { kty: "oct", k: "AAAA" },
    { kty: "EC", crv: "P-384", x: "AA", y: "AA" },
    { kty: "RSA", n: "AA", e: "AQAB" },
  ])("refuses to encrypt with an invalid key: %j", async (key) => {
    await expect(encryptTo(key, "x")).rejects.toThrow(TypeError);
  });
});
