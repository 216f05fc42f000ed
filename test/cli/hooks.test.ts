import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSigner } from "../../src/auth/create-signer.ts";
import type { SigningKey } from "../../src/auth/signing-keys.ts";
import { generateSigningKey, keysOf, publicPartOf } from "../../src/auth/test/keys.ts";
import type { CliContext } from "../../src/cli/context.ts";
import { linesOf, type Run, Terminal } from "./terminal.ts";

const ISSUER = "https://agents.example.org";
const TASK = "01a1e248";
const statusBody = (state: string): string =>
  JSON.stringify({ statusUpdate: { taskId: TASK, contextId: "c", status: { state } } });
const COMPLETED = statusBody("TASK_STATE_COMPLETED");

let terminal: Terminal;
let key: SigningKey;
beforeEach(async () => {
  terminal = new Terminal();
  terminal.open();
  key = await generateSigningKey();
});
afterEach(() => terminal.close());

const fetchKeys: typeof fetch = async () => Response.json({ keys: [publicPartOf(key)] });

/** Listens, runs `work` with its URL, and stops. */
async function listening(
  flags: readonly string[],
  work: (url: string) => Promise<void>,
  { isTTY = false } = {},
): Promise<Run> {
  const stop = new AbortController();
  const output = { stdout: "", stderr: "" };
  let reportUrl = (_url: string): void => {};
  const url = new Promise<string>((resolve) => {
    reportUrl = resolve;
  });
  const context: Partial<CliContext> = {
    fetch: fetchKeys,
    stdout: {
      isTTY,
      async write(text) {
        output.stdout += text;
      },
    },
    stderr: {
      isTTY: false,
      async write(text) {
        output.stderr += text;
        const [, where] = /Listening on (\S+)\/ /.exec(text) ?? [];
        if (where !== undefined) reportUrl(where);
      },
    },
  };
  const running = terminal.run(["hooks", "listen", "--port", "0", ...flags], { signal: stop.signal, context });
  await work(await url).finally(() => stop.abort());
  return { ...(await running), ...output };
}

async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(url, { method: "POST", body, headers })).status;
}

async function signatureFor(audience: string, body: string, jti = "j1"): Promise<Record<string, string>> {
  const notification = { issuer: ISSUER, audience, taskId: TASK, jti, body, now: Date.now() };
  return { "x-a2a-notification-signature": await createSigner(keysOf(key)).signNotification(notification) };
}

describe("palaver hooks listen", () => {
  it("prints each notification, and warns that none is verified", async () => {
    const { code, stdout, stderr } = await listening([], async (url) => {
      expect(await post(`${url}/in?secret=1`, COMPLETED)).toBe(204);
      const chunk = { artifactId: "a", name: "poem", parts: [{ text: "one\ntwo \u001b[31m" }] };
      expect(
        await post(url, JSON.stringify({ artifactUpdate: { taskId: TASK, contextId: "c", artifact: chunk } })),
      ).toBe(204);
      expect(await post(`${url}/odd?secret=1`, "hello")).toBe(204);
      expect((await fetch(url)).status).toBe(405);
    });
    expect(code).toBe(0);
    expect(stderr).toContain("Nothing is verified: add --issuer or --token.");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(14))).toEqual([
      `unchecked  ${TASK}  status completed`,
      `unchecked  ${TASK}  artifact poem: one two \\u001b[31m`,
      "unchecked  POST /odd",
      "unchecked  GET /  → 405",
    ]);
    expect(stdout).not.toContain("secret");
  });

  it("prints whether each notification is valid, and why not", async () => {
    const { stdout } = await listening(["--issuer", ISSUER, "--json"], async (url) => {
      const here = `${url.replace("127.0.0.1", "localhost")}/in`;
      expect(await post(`${url}/in`, COMPLETED, await signatureFor(here, COMPLETED))).toBe(204);
      expect(await post(`${url}/in`, COMPLETED, await signatureFor(here, COMPLETED))).toBe(204);
      expect(await post(`${url}/in`, COMPLETED, await signatureFor("https://elsewhere.example.org/", COMPLETED))).toBe(
        401,
      );
      expect(await post(`${url}/in`, `${COMPLETED} `, await signatureFor(here, COMPLETED))).toBe(401);
      expect(await post(`${url}/in`, COMPLETED)).toBe(401);
    });
    const same = { taskId: TASK, kind: "status", state: "completed", path: "/in", method: "POST" };
    expect(linesOf(stdout)).toMatchObject([
      {
        ...same,
        verified: true,
        issuer: ISSUER,
        jti: "j1",
        repeated: false,
        answered: 204,
        body: JSON.parse(COMPLETED),
      },
      { ...same, verified: true, repeated: true },
      { ...same, verified: false, reason: "wrong-audience", answered: 401 },
      { ...same, verified: false, reason: "wrong-body" },
      { ...same, verified: false, reason: "no-signature" },
    ]);
  });

  it("accepts only notifications whose audience is its --url", async () => {
    const flags = ["--issuer", ISSUER, "--url", "https://hooks.example.org/in"];
    await listening(flags, async (url) => {
      expect(await post(url, COMPLETED, await signatureFor("https://hooks.example.org/in", COMPLETED))).toBe(204);
      expect(await post(url, COMPLETED, await signatureFor(url, COMPLETED, "j2"))).toBe(401);
    });
  });

  it("requires the token, and prints colours on a terminal", async () => {
    const work = async (url: string): Promise<void> => {
      expect(await post(url, COMPLETED, { "x-a2a-notification-token": "s3cret" })).toBe(204);
      expect(await post(url, COMPLETED, { "x-a2a-notification-token": "other" })).toBe(401);
    };
    const { stdout } = await listening(["--token", "s3cret"], work, { isTTY: true });
    expect(stdout).toContain("\u001b[32mverified\u001b[0m (token)");
    expect(stdout).toContain("\u001b[31mrefused: wrong-token\u001b[0m");
    expect((await listening(["--token", "s3cret"], work)).stdout).not.toContain("\u001b");
  });

  it("answers with the status of --status as often as --fail says", async () => {
    await listening(["--fail", "2"], async (url) => {
      expect([await post(url, COMPLETED), await post(url, COMPLETED), await post(url, COMPLETED)]).toEqual([
        500, 500, 204,
      ]);
    });
    await listening(["--status", "410"], async (url) => {
      expect([await post(url, COMPLETED), await post(url, COMPLETED)]).toEqual([410, 410]);
    });
    await listening(["--status", "503", "--fail", "1"], async (url) => {
      expect([await post(url, COMPLETED), await post(url, COMPLETED)]).toEqual([503, 204]);
    });
  });

  it("answers the validation request that some agents send first", async () => {
    await listening([], async (url) => {
      const response = await fetch(`${url}/in?validationToken=a%20b`);
      expect([response.status, await response.text()]).toEqual([200, "a b"]);
    });
  });

  it("refuses invalid options at once", async () => {
    const failing = async (...flags: readonly string[]): Promise<Run> => terminal.run(["hooks", "listen", ...flags]);
    expect(await failing("--issuer", "http://agents.example.org")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("https"),
    });
    expect(await failing("--url", "https://x.example.org")).toMatchObject({ code: 2 });
    expect(await failing("--status", "99")).toMatchObject({ code: 2 });
    expect(await failing("--port", "x")).toMatchObject({ code: 2 });
    await listening([], async (url) => {
      const taken = await failing("--port", new URL(url).port);
      expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("is in use") });
    });
  });
});
