import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { showing } from "../../auth/verify/test/shown.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { addApiKey, apiKeyFile, listApiKeys, revokeApiKey } from "./api-keys.ts";
import { keyFileBeside, updateKeyFile } from "./api-keys-file.ts";

const shownKey = (key: string) => showing({ headers: { "x-api-key": key } });

afterEach(() => vi.useRealTimers());

describe("An API key file", () => {
  it("is readable only by its owner and contains no secret", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("deep/keys.json");
    const { key } = await addApiKey(file, { name: "ci", scopes: ["send", "send"], tenant: "acme" });
    const text = readFileSync(file, "utf8");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text).not.toContain(key.slice(-43));
    expect(listApiKeys(file)).toMatchObject([{ name: "ci", owner: "ci", scopes: ["send"], tenant: "acme" }]);
    expect(readdirSync(folder.file("deep"))).toEqual(["keys.json"]);
  });

  it("loses no key when it is changed concurrently", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    await Promise.all(Array.from({ length: 20 }, (_, index) => addApiKey(file, { name: `key ${index}` })));
    expect(listApiKeys(file)).toHaveLength(20);
    expect(readdirSync(folder.path)).toEqual(["keys.json"]);
  });

  it("can be changed after a process died and left its lock", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    writeFileSync(`${file}.lock`, "1");
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(`${file}.lock`, longAgo, longAgo);
    await addApiKey(file, { name: "ci" });
    expect(listApiKeys(file)).toHaveLength(1);
  });

  it("can be changed if its lock is in the future, after a clock was set back", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    writeFileSync(`${file}.lock`, "");
    const toCome = Date.now() / 1000 + 3600;
    utimesSync(`${file}.lock`, toCome, toCome);
    await addApiKey(file, { name: "ci" });
    expect(listApiKeys(file)).toHaveLength(1);
  });

  it("is changed at the target of a symbolic link, so that readers of the target see revoked keys", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("real/keys.json");
    const { stored } = await addApiKey(file, { name: "ci" });
    const link = folder.file("keys.json");
    symlinkSync(file, link);
    revokeApiKey(link, stored.id);
    expect(listApiKeys(file)).toMatchObject([{ revokedAt: expect.any(String) }]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder.path).toSorted()).toEqual(["keys.json", "real"]);
  });

  it("keeps its group permissions and removes those of others", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    await addApiKey(file, { name: "ci" });
    for (const [before, after] of [
      [0o640, 0o640],
      [0o666, 0o660],
      [0o600, 0o600],
    ] as const) {
      chmodSync(file, before);
      await addApiKey(file, { name: `ci ${before}` });
      expect(statSync(file).mode & 0o777).toBe(after);
    }
  });

  it.runIf(process.getuid?.() === 0)("keeps its owner when root changes it", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    await addApiKey(file, { name: "ci" });
    chownSync(file, 1234, 1235);
    await addApiKey(file, { name: "other" });
    expect(statSync(file)).toMatchObject({ uid: 1234, gid: 1235 });
  });

  it("is not created by revoking an unknown key", async () => {
    await using folder = await temporaryFolder();
    expect(revokeApiKey(folder.file("keys.json"), "0123456789abcdef")).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("has one key per name, unless an owner is named for keys that share tasks", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    const { stored } = await addApiKey(file, { name: "ci" });
    await expect(addApiKey(file, { name: "ci" })).rejects.toThrow("--owner ci");
    await addApiKey(file, { name: "ci", owner: "ci" });
    revokeApiKey(file, stored.id);
    expect(listApiKeys(file).map(({ revokedAt }) => revokedAt === undefined)).toEqual([false, true]);
  });

  it.each([{ name: "" }, { name: "a\nb" }, { name: "ci", owner: "\u001b[31m" }, { name: "ci", scopes: ["a b"] }])(
    "rejects %j",
    async (asked) => {
      await using folder = await temporaryFolder();
      await expect(addApiKey(folder.file("keys.json"), asked)).rejects.toMatchObject({ kind: "usage" });
    },
  );

  it.each(["", "{}", "[]", '{"version":2,"keys":[]}', '{"version":1,"keys":[{"id":"x"}]}'])(
    "that contains %j is reported as damaged and not changed",
    async (text) => {
      await using folder = await temporaryFolder();
      const file = folder.file("keys.json");
      writeFileSync(file, text);
      await expect(addApiKey(file, { name: "ci" })).rejects.toThrow("damaged");
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  it("is beside the store", () => {
    expect(keyFileBeside("sqlite:/var/lib/agents/tasks.db")).toBe("/var/lib/agents/keys.json");
    expect(keyFileBeside("memory:")).toBe(".palaver/keys.json");
  });
});

describe("The verifier of an API key file", () => {
  it("accepts a stored key and rejects others", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    const verifier = apiKeyFile({ file });
    const { key } = await addApiKey(file, { name: "ci", owner: "team" });
    expect(await verifier.verify(shownKey(key))).toMatchObject({ id: "team" });
    await expect(verifier.verify(shownKey(`${key.slice(0, -1)}~`))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("notices within 1 s that keys were added or revoked, or that the file was removed", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    await using folder = await temporaryFolder();
    const file = folder.file("keys.json");
    const verifier = apiKeyFile({ file });
    const outcome = async (key: string): Promise<string> =>
      verifier.verify(shownKey(key)).then(
        () => "in",
        (error: { code: string }) => error.code,
      );
    const outcomeAfter1s = (key: string): Promise<string> => {
      vi.advanceTimersByTime(1000);
      return outcome(key);
    };
    const first = await addApiKey(file, { name: "one" });
    expect(await outcome(first.key)).toBe("in");
    const second = await addApiKey(file, { name: "two" });
    expect(await outcomeAfter1s(second.key)).toBe("in");
    revokeApiKey(file, first.stored.id);
    expect(await outcomeAfter1s(first.key)).toBe("unauthenticated");
    expect(await outcome(second.key)).toBe("in");
    writeFileSync(file, "{");
    expect(await outcomeAfter1s(second.key)).toBe("unavailable");
    rmSync(file);
    expect(await outcomeAfter1s(second.key)).toBe("unauthenticated");
    updateKeyFile(file, () => [second.stored]);
    expect(await outcomeAfter1s(second.key)).toBe("in");
    chmodSync(file, 0o600);
  });
});
