import { spawnSync } from "node:child_process";
import { agent, createServer, type Server } from "palaver";
import { jwtBearer } from "palaver/auth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUDIENCE, createIssuer, ISSUER, NOW } from "../../src/auth/verify/test/issuer.ts";
import { createConsoleCapture } from "./captured-log.ts";

/** Metrics and logs of a real server under load, with hostile callers and planted secrets. */

const SECRETS = Array.from({ length: 30 }, (_, index) => `planted-secret-${index}-x9f`);
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;

const echo = agent({
  ...{ id: "echo", name: "Echo", description: "Repeats.", version: "1.0.0" },
  async *run(task) {
    if (task.text.includes("fail")) throw new Error(SECRETS[0]);
    yield task.text;
  },
});

describe("Metrics and logs of a server with many callers", () => {
  const log = createConsoleCapture();
  let server: Server;
  let url = "";
  let issuer: Awaited<ReturnType<typeof createIssuer>>;
  beforeAll(async () => {
    issuer = await createIssuer();
    const bearer = jwtBearer({
      issuer: ISSUER,
      audience: AUDIENCE,
      jwks: { keys: [issuer.publicKey] },
      now: () => NOW,
    });
    server = createServer(echo, {
      ...{ port: 0, store: "memory:", logger: log.logger, rateLimit: { address: { requests: 100_000, seconds: 1 } } },
      security: { schemes: { bearer }, require: [{ bearer: [] }, {}] },
      requestLog: "json",
    });
    log.start();
    ({ url } = await server.listen());
  });
  afterAll(async () => {
    log.stop();
    await server.close();
  });

  const call = async (body: unknown, headers: Readonly<Record<string, string>> = {}, path = "/"): Promise<string> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return response.text();
  };
  const send = (text: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
    call(
      {
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] }, ...more },
      },
      headers,
    );
  const scrape = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const seriesIn = (text: string): number =>
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;

  it("promtool accepts a scrape under load", async ({ skip }) => {
    const load = Promise.all(Array.from({ length: 40 }, () => send("hello")));
    const during = await scrape();
    await load;
    const after = await scrape();
    expect(after).toMatch(
      /palaver_calls_total\{agent="echo",operation="send",dialect="1.0\/jsonrpc",outcome="ok"\} 4\d/,
    );
    expect(after).toMatch(/palaver_tasks\{state="completed"\} \d+/);
    expect(after).toMatch(/palaver_tasks_ended_total\{state="completed"\} \d+/);
    for (const name of METRICS) expect(after, name).toMatch(new RegExp(`^${name}[{ ]|^${name}_bucket`, "m"));
    skip(!hasPromtool, "promtool is not installed (Debian: apt-get install prometheus)");
    for (const text of [during, after]) {
      const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
      expect(`${stdout}${stderr}`.trim()).toBe("");
      expect(status).toBe(0);
    }
  });

  it("hostile names and ids add no series after the first refusals, and no text of theirs", async () => {
    const hostile = async (round: number): Promise<void> => {
      await send("x", { tenant: `tenant-${round}` });
      await call({ jsonrpc: "2.0", id: 1, method: `Method${round}`, params: {} });
      await call({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: `id-${round}"}\n` } });
      await call({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: `x` } }, { "a2a-version": `9.${round}` });
      await call("{", { "a2a-extensions": `https://evil.example/${round}` });
      await call({}, {}, `/agents/agent-${round}/`);
      await call({}, {}, `/tenant-${round}/message:send`);
      await send("x", {}, { authorization: `Bearer token-${round}` });
    };
    await hostile(0);
    const before = seriesIn(await scrape());
    for (let round = 1; round <= 30; round += 1) await hostile(round);
    const text = await scrape();
    // One more dialect or outcome may appear at most in the first round.
    expect(seriesIn(text)).toBe(before);
    expect(text).not.toMatch(/tenant-|Method\d|agent-\d|evil|token-/);
  });

  it("the log says why credentials were refused, the answer does not", async () => {
    const other = await createIssuer();
    const tokens: Readonly<Record<string, string>> = {
      "wrong-audience": await issuer.token({ aud: "another" }),
      "wrong-issuer": await issuer.token({ iss: "https://another.example" }),
      expired: await issuer.token({ exp: NOW / 1000 - 3600 }),
      "not-yet-valid": await issuer.token({ nbf: NOW / 1000 + 3600 }),
      "unknown-key-id": await issuer.token({}, { kid: "nobody" }),
      "wrong-signature": await other.token(),
      "missing-claim": await issuer.token({ sub: undefined }),
      malformed: "not.a.token",
    };
    for (const [reason, token] of Object.entries(tokens)) {
      log.clear();
      const answer = await send("hello", {}, { authorization: `Bearer ${token}` });
      expect(answer, reason).toContain("Invalid credentials");
      expect(answer, reason).not.toMatch(new RegExp(`${reason}|audience|expired|issuer|kid`));
      await expect.poll(() => log.text(), { timeout: 5000 }).toContain(`"refusal":"bearer: ${reason}"`);
      expect(log.text(), reason).not.toContain(token);
    }
    expect(await scrape()).toContain('palaver_credentials_refused_total{reason="wrong-audience"} 1');
  });

  it("29 of 30 planted secrets appear in no log and no metric; the 30th is the text of an agent's error, which is logged for its author", async () => {
    log.clear();
    const [inError = "", ...secrets] = SECRETS;
    const webhook = {
      url: `https://hooks.example.com/?token=${secrets[0]}`,
      token: secrets[1],
      authentication: { scheme: "Bearer", credentials: secrets[2] },
    };
    await send(`${secrets[3]}`, {
      configuration: { taskPushNotificationConfig: webhook },
      metadata: { secret: secrets[4] },
    });
    await send(`fail ${secrets[5]}`);
    await send(
      "x",
      {},
      { authorization: `Bearer ${secrets[6]}`, "x-api-key": secrets[7] ?? "", cookie: `a=${secrets[8]}` },
    );
    await send("x", {}, { authorization: `Basic ${btoa(`${secrets[9]}:${secrets[10]}`)}` });
    await send(
      "x",
      {},
      { "user-agent": secrets[11] ?? "", referer: `https://a/?${secrets[12]}`, baggage: `k=${secrets[13]}` },
    );
    await call(`{"${secrets[14]}`);
    await call({ jsonrpc: "2.0", id: secrets[15], method: "SendMessage", params: { message: { text: secrets[16] } } });
    await call({ jsonrpc: "2.0", id: 1, method: `X${secrets[17]}` });
    await fetch(`${url}/tasks?key=${secrets[18]}`);
    await fetch(`${url}/metrics?key=${secrets[19]}`, { headers: { authorization: `Bearer ${secrets[20]}` } });
    await fetch(`${url}/operator/v1/tasks?key=${secrets[21]}`, { headers: { authorization: `Bearer ${secrets[22]}` } });
    for (const secret of secrets.slice(23)) await send(secret, { metadata: { [secret]: secret } });
    await expect.poll(() => log.text().split('"msg":"call"').length, { timeout: 5000 }).toBeGreaterThan(10);
    const seen = log.text() + (await scrape());
    for (const secret of secrets) expect(seen).not.toContain(secret);
    // The text of an error that an agent throws is logged for its author, and is nowhere else.
    const lines = log.text().split("\n");
    const shown = lines.filter((line) => line.includes(inError));
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain("A run failed");
    expect(await scrape()).not.toContain(inError);
  });
});

/** Every metric of the documentation, except those that need webhooks or a file. */
const METRICS = [
  ...[
    "palaver_calls_total",
    "palaver_call_duration_seconds",
    "palaver_commit_duration_seconds",
    "palaver_commit_operations",
  ],
  ...[
    "palaver_commit_failures_total",
    "palaver_log_written_bytes_total",
    "palaver_tasks_created_total",
    "palaver_tasks_ended_total",
  ],
  ...["palaver_tasks", "palaver_runs", "palaver_live_tasks", "palaver_subscribers", "palaver_streams", "palaver_nodes"],
  ...[
    "palaver_lease_age_seconds",
    "palaver_hint_lag_seconds",
    "palaver_hints_lost_total",
    "palaver_store_refusals_total",
  ],
  ...["palaver_webhooks", "palaver_webhook_oldest_pending_seconds", "palaver_webhook_delivery_duration_seconds"],
  ...[
    "palaver_event_loop_delay_seconds",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "palaver_build_info",
  ],
];
