import { describe, expect, it } from "vitest";
import { basic } from "./basic.ts";
import { hashPassword } from "./password-hash.ts";
import { showing } from "./test/shown.ts";

const password = await hashPassword("påss:word", 1000);
const users = { ada: { password, scopes: ["read"], tenant: "acme" } };
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const as = (credentials: string) => showing({ headers: { authorization: `Basic ${credentials}` } });

describe("A name and a password", () => {
  const verifier = basic({ users });
  it("identify the caller, on every request", async () => {
    for (const scheme of ["Basic", "basic", "BASIC"]) {
      const request = showing({ headers: { authorization: `${scheme} ${encoded("ada:påss:word")}` } });
      expect(await verifier.verify(request)).toEqual({ id: "ada", scopes: ["read"], tenant: "acme" });
    }
    expect(await verifier.verify(showing({ headers: { authorization: "Bearer abc" } }))).toBeUndefined();
    expect(verifier.challenge()).toBe('Basic charset="UTF-8"');
  });

  it.each([
    ["another password", encoded("ada:word")],
    ["an unknown name", encoded("bob:påss:word")],
    ["a name that every object has as a member", encoded("__proto__:x")],
    ["no name", encoded(":påss:word")],
    ["no colon", encoded("ada")],
    ["bytes that are not UTF-8", Buffer.from([97, 58, 0xff, 0xfe]).toString("base64")],
    ["text that is not base64", "a"],
    ["nothing", ""],
  ])("are invalid: %s", async (_, credentials) => {
    await expect(verifier.verify(as(credentials))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("may be checked by a function of the host", async () => {
    const own = basic({ verify: (user, word) => (word === "x" ? { id: user, scopes: [] } : undefined) });
    expect(await own.verify(as(encoded("bob:x")))).toEqual({ id: "bob", scopes: [] });
    await expect(own.verify(as(encoded("bob:y")))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("are checked only a bounded number of times at once", async () => {
    const guesses = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => verifier.verify(as(encoded(`ada:${index}`)))),
    );
    const codes = guesses.map((guess) => (guess.status === "rejected" ? (guess.reason as { code: string }).code : ""));
    expect(codes.filter((code) => code === "unauthenticated").length).toBeGreaterThanOrEqual(68);
    expect(codes.filter((code) => code === "unavailable").length).toBeGreaterThan(0);
    expect(await verifier.verify(as(encoded("ada:påss:word")))).toMatchObject({ id: "ada" });
  });

  it("must be configured as a hash", () => {
    const attempt = (): unknown => basic({ users: { ada: { password: "secret" } } });
    expect(attempt).toThrow("hashPassword()");
    expect(attempt).not.toThrow("secret");
    expect(() => basic({ users: { "a:b": { password } } })).toThrow("colon");
  });
});
