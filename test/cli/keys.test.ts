import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CommandLine } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

describe("palaver keys", () => {
  let terminal: Terminal;
  beforeEach(() => {
    terminal = new Terminal();
    terminal.open();
  });
  afterEach(() => terminal.close());
  const run = (...argv: readonly string[]) => terminal.run(["keys", ...argv], { context: { now: () => NOW } });

  it("prints a key once, lists it without its secret, and revokes it", async () => {
    const added = await run("add", "ci", "--scope", "send", "--scope", "read", "--tenant", "acme", "--expires", "90d");
    expect(added.code).toBe(0);
    const [key = ""] = /^plv_\S+(?=\n$)/.exec(added.stdout) ?? [];
    const id = key.slice(4, 20);
    expect(added.stderr).toContain(`Key ${id} (ci)`);
    const listed = await run("list");
    expect(listed.stdout).toBe(
      `${id}  active    ci  owner=ci tenant=acme scopes=send,read expires=2030-04-01T00:00:00.000Z\n`,
    );
    const file = join(terminal.folder, ".palaver", "keys.json");
    expect(readFileSync(file, "utf8")).not.toContain(key.slice(21));
    expect((await run("revoke", id)).code).toBe(0);
    expect((await run("list")).stdout).toContain(`${id}  revoked   ci`);
    expect(await run("revoke", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("has no key") });
  });

  it("prints the same as JSON", async () => {
    const { key, ...made } = JSON.parse((await run("add", "ci", "--owner", "team", "--json")).stdout);
    expect(key).toMatch(/^plv_/);
    expect(made).toMatchObject({ name: "ci", owner: "team", scopes: [], status: "active" });
    expect(made).not.toHaveProperty("hash");
    expect(JSON.parse((await run("list", "--json")).stdout)).toEqual({ keys: [made], signing: [] });
  });

  it("stores keys next to the store, or in the file given by its option", async () => {
    await run("add", "one", "--store", "sqlite:data/tasks.db");
    await run("add", "two", "--keys", "mine.json");
    for (const name of ["data/keys.json", "mine.json"]) expect(existsSync(join(terminal.folder, name))).toBe(true);
  });

  it("rotates, lists and revokes the server's signing keys", async () => {
    const first = (await run("rotate")).stdout.trim();
    const second = (await run("rotate")).stdout.trim();
    expect(first).toMatch(/^[\w-]{43}$/);
    const states = async () => {
      const { signing } = JSON.parse((await run("list", "--json")).stdout) as {
        signing: { kid: string; state: string }[];
      };
      return signing.map(({ kid, state }) => [kid, state]);
    };
    expect(await states()).toEqual([
      [second, "current"],
      [first, "previous"],
    ]);
    expect((await run("list")).stdout).toContain(`${second}  current   (signs)`);
    expect((await run("revoke", first)).code).toBe(0);
    expect(await states()).toContainEqual([first, "revoked"]);
    expect(await run("rotate", "--store", "memory:")).toMatchObject({ code: 2 });
  });

  it.each([["soon"], ["0d"], ["2029-12-31"], ["999999w"]])("refuses %s as an expiry time", async (expires) => {
    expect(await run("add", "ci", "--expires", expires)).toMatchObject({ code: 2 });
  });
});

describe("palaver serve", () => {
  let line: CommandLine;
  beforeEach(() => {
    line = new CommandLine();
  });
  afterEach(() => line.close());

  it("accepts keys until they are revoked, hides its cards, and writes callers to the audit log", async () => {
    const { stdout } = await line.run(["keys", "add", "ci"]);
    const key = stdout.trim();
    const server = await line.serve(["--demo", "--api-keys", "--private-cards", "--audit-log", "audit.jsonl"]);
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${server.url}/.well-known/agent-card.json`, { headers })).status;
    expect(await status({})).toBe(401);
    expect(await status({ "x-api-key": key })).toBe(200);
    await line.run(["keys", "revoke", key.slice(4, 20)]);
    await expect.poll(() => status({ "x-api-key": key }), { timeout: 10_000, interval: 200 }).toBe(401);
    await server.kill("SIGTERM");
    const lines = readFileSync(join(line.folder, "audit.jsonl"), "utf8").trim().split("\n");
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ principal: "apiKey:ci", operation: "card", outcome: "ok" });
    expect(lines.join()).not.toContain(key);
  });
});

describe("palaver serve with contradictory security options", () => {
  let terminal: Terminal;
  beforeEach(() => {
    terminal = new Terminal();
    terminal.open();
  });
  afterEach(() => terminal.close());

  it.each([
    [["--private-cards"], /--private-cards needs authentication/],
    [["--jwt-issuer", "https://issuer.example"], /--jwt-issuer needs --jwt-audience/],
    [["--jwt-audience", "agents"], /--jwt-audience needs --jwt-issuer/],
    [["--jwks-url", "https://issuer.example/keys"], /--jwks-url needs --jwt-issuer/],
    [["--audience", "agents"], /--audience needs --oidc/],
    [["--jwt-issuer", "issuer", "--jwt-audience", "a"], /not the URL of an issuer/],
    [["--oidc", "https://issuer.example"], /--oidc needs --audience/],
    [["--tls-cert", "cert.pem"], /both --tls-cert and --tls-key/],
    [["--tls-cert", "cert.pem", "--tls-key", "key.pem"], /certificate cannot be read from cert\.pem/],
  ])("exits with 2: %j", async (flags, message) => {
    const { code, stderr } = await terminal.run(["serve", "--demo", "--store", "memory:", ...flags]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
