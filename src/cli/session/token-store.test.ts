import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { deleteLogin, readLogins, storedTokens, tokenFile } from "./token-store.ts";

const login = { clientId: "me" };
const token = { accessToken: "secret" };

function tokensOf(home: string, agent: string): ReturnType<typeof storedTokens> {
  return storedTokens({ home, agent, login, onToken: () => {} });
}

/** The program of another process that logs in. */
const LOGIN = `
const [home, agent] = process.argv.slice(1);
const { storedTokens } = await import(${JSON.stringify(new URL("./token-store.ts", import.meta.url).href)});
process.stdout.write("begins");
storedTokens({ home, agent, login: { clientId: "me" }, onToken: () => {} }).set("key", { accessToken: "theirs" });
`;

describe("The file of logins", () => {
  test("keeps both logins if another process logs in to another agent while this one changes the file", async () => {
    await using folder = await temporaryFolder();
    const home = folder.file("home");
    const file = tokenFile(home);
    mkdirSync(dirname(file), { recursive: true });
    // This process is changing the file.
    const lock = `${file}.lock`;
    writeFileSync(lock, "");
    const other = spawn(process.execPath, ["--input-type=module", "-e", LOGIN, home, "https://b"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(other, "exit");
    await once(other.stdout, "data");
    // Without a lock the other process would write now, and this one would overwrite it.
    await Promise.race([ended, sleep(300)]);
    writeFileSync(file, JSON.stringify({ "https://a": { ...login, tokens: { key: token } } }), { mode: 0o600 });
    rmSync(lock);
    expect(await ended).toEqual([0, null]);
    expect(Object.keys(readLogins(home))).toEqual(["https://a", "https://b"]);
  });

  test("keeps the other tokens of an agent when one is stored or deleted", async () => {
    await using folder = await temporaryFolder();
    const tokens = tokensOf(folder.path, "https://a");
    await tokens.set("one", token);
    await tokens.set("two", token);
    await tokens.delete("one");
    expect(readLogins(folder.path)).toEqual({ "https://a": { ...login, tokens: { two: token } } });
    deleteLogin(folder.path, "https://a");
    expect(readLogins(folder.path)).toEqual({});
  });

  test.skipIf(process.platform === "win32")("is readable only by its owner, whatever it was before", async () => {
    await using folder = await temporaryFolder();
    const tokens = tokensOf(folder.path, "https://a");
    await tokens.set("one", token);
    chmodSync(tokenFile(folder.path), 0o664);
    await tokens.set("two", token);
    expect(statSync(tokenFile(folder.path)).mode & 0o777).toBe(0o600);
  });
});
