import { expect, it } from "vitest";
import { apiKeys } from "../auth/verify/api-keys.ts";
import { bearerChallenge } from "../auth/verify/challenge.ts";
import type { Verified, Verifier } from "../auth/verify/contract.ts";
import { credentialsByScheme } from "../auth/verify/request-credentials.ts";
import { SILENT_LOGGER } from "../internal/logger.ts";
import { A2AError } from "../protocol/error.ts";
import { createSecurity, type SecurityOptions } from "../server/security.ts";
import type { AuditEntry } from "./audit.ts";
import { describeFaces, type SiteOptions, textMessage } from "./test/faces.ts";

let outage: Error | undefined;

/** Tokens that say who they are of: `ada+read+write`, `ada@acme`; `bad` is invalid and `down` cannot be verified. */
const bearer: Verifier = {
  scheme: { type: "http", scheme: "bearer" },
  challenge: bearerChallenge,
  async verify(request): Promise<Verified | undefined> {
    const token = credentialsByScheme(request, "Bearer");
    if (token === undefined) return undefined;
    if (token === "bad") throw new A2AError("unauthenticated", "Invalid credentials");
    if (token === "down") throw new A2AError("unavailable", "Credentials cannot be verified now");
    if (token === "outage") throw new A2AError("unavailable", "Credentials cannot be verified now", { cause: outage });
    if (token === "broken") throw new Error("secret detail");
    const [who = "", ...scopes] = token.split("+");
    const [id = "", tenant] = who.split("~");
    return { id, scopes, ...(tenant !== undefined && { tenant }) };
  },
};
const key = apiKeys({
  verify: (value) => (value === "k" ? { id: "ci", scopes: ["send"], credential: "key 7" } : undefined),
});
const schemes = { key, token: bearer };

function secured(options: Partial<SecurityOptions> = {}, rest: SiteOptions = {}): SiteOptions {
  return { security: createSecurity({ schemes, ...options }), ...rest };
}
const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const CHALLENGES = 'ApiKey realm="palaver", in="header", name="X-API-Key", Bearer realm="palaver"';
const CARD = "/.well-known/agent-card.json";

describeFaces("A server with security", (open) => {
  it("answers requests without credentials with one challenge per scheme, in JSON-RPC and in REST", async () => {
    const site = await open(secured());
    for (const response of [await site.post("GetTask", { id: "x" }), await site.rest("GET /tasks/x")]) {
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe(CHALLENGES);
      expect(await response.text()).toContain("Authentication is required");
    }
  });

  it("accepts callers with valid credentials for one scheme, whatever else they send", async () => {
    const site = await open(secured());
    const shown = [
      as("ada"),
      { "x-api-key": "k" },
      { "x-api-key": "k", ...as("bad") },
      { "x-api-key": "no", ...as("ada") },
    ];
    for (const headers of shown) expect((await site.post("SendMessage", textMessage("hi"), headers)).status).toBe(200);
    const principals = site.engine.submissions.map(({ call }) => call.principal.id);
    expect(principals).toEqual(["token:ada", "key:ci", "key:ci", "token:ada"]);
  });

  it("reports an invalid token, but not why it is invalid", async () => {
    const site = await open(secured());
    const response = await site.post("GetTask", { id: "x" }, as("bad"));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain('Bearer realm="palaver", error="invalid_token"');
  });

  it("answers 503 if credentials cannot be verified now", async () => {
    const site = await open(secured());
    for (const token of ["down", "broken"]) {
      const response = await site.post("GetTask", { id: "x" }, as(token));
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(await response.text()).not.toContain("secret detail");
    }
    expect((await site.post("ListTasks", {}, { "x-api-key": "k", ...as("down") })).status).toBe(200);
  });

  it("refuses callers for whom a verifier returns no id", async () => {
    const nameless = apiKeys({ verify: () => ({ id: "", scopes: [] }) });
    const site = await open(secured({ schemes: { key: nameless } }));
    expect((await site.post("ListTasks", {}, { "x-api-key": "k" })).status).toBe(503);
  });

  it("logs once why credentials cannot be verified", async () => {
    const warnings: unknown[] = [];
    const warn = (message: string, details?: object): void => void warnings.push([message, details]);
    const site = await open(secured({}, { logger: { ...SILENT_LOGGER, warn } }));
    outage = new Error("issuer.example answered with status 502");
    for (let index = 0; index < 3; index++) await (await site.post("ListTasks", {}, as("outage"))).text();
    expect(warnings).toEqual([[expect.stringMatching(/cannot be verified/), { agent: "echo", error: outage }]]);
  });

  it("requires all schemes of a requirement, and their scopes", async () => {
    const site = await open(secured({ require: [{ key: [], token: ["read"] }] }));
    const statusFor = async (headers: Record<string, string>): Promise<number> =>
      (await site.post("ListTasks", {}, headers)).status;
    expect(await statusFor({ "x-api-key": "k" })).toBe(401);
    expect(await statusFor(as("ada+read"))).toBe(401);
    expect(await statusFor({ "x-api-key": "k", ...as("ada+read") })).toBe(200);
    const lacking = await site.post("ListTasks", {}, { "x-api-key": "k", ...as("ada+write") });
    expect(lacking.status).toBe(403);
    expect(lacking.headers.get("www-authenticate")).toContain(
      'Bearer realm="palaver", error="insufficient_scope", scope="read"',
    );
  });

  it("applies the requirements of the agent itself", async () => {
    const site = await open(secured({}, { definition: { security: [{ token: ["read"] }] } }));
    expect((await site.post("ListTasks", {}, { "x-api-key": "k" })).status).toBe(401);
    expect((await site.post("ListTasks", {}, as("ada"))).status).toBe(403);
    expect((await site.post("ListTasks", {}, as("ada+read"))).status).toBe(200);
  });

  it("accepts anonymous callers only if allowed, and never with invalid credentials", async () => {
    const site = await open(secured({ require: [{ token: [] }, {}] }));
    expect((await site.post("SendMessage", textMessage("hi"))).status).toBe(200);
    expect((await site.post("SendMessage", textMessage("hi"), as("ada"))).status).toBe(200);
    expect((await site.post("SendMessage", textMessage("hi"), { "x-api-key": "k" })).status).toBe(200);
    const principals = site.engine.submissions.map(({ call }) => call.principal.id);
    expect(principals).toEqual(["anonymous", "token:ada", "key:ci"]);
    expect((await site.post("SendMessage", textMessage("hi"), as("bad"))).status).toBe(401);
    expect((await site.post("SendMessage", textMessage("hi"), as("down"))).status).toBe(503);
  });

  it("declares schemes and requirements in the cards of every version", async () => {
    const site = await open(secured());
    for (const [path, version] of [
      [CARD, "1.0"],
      [CARD, "0.3"],
      [CARD, undefined],
      ["/.well-known/agent.json", "0.2"],
    ] as const) {
      const headers = version === undefined ? {} : { "a2a-version": version };
      const card = await site.ask(`GET ${path}`, undefined, headers);
      expect(Object.keys(card.securitySchemes)).toEqual(["key", "token"]);
      expect(JSON.stringify(card.security ?? card.securityRequirements)).toContain("token");
    }
    const oldest = await site.ask("GET /.well-known/agent.json", undefined, { "a2a-version": "0.1" });
    expect(oldest.authentication.schemes).toEqual(["ApiKey", "Bearer"]);
  });

  it("shows cards to everybody, unless they are private", async () => {
    const site = await open(secured());
    const card = await site.request(CARD);
    expect(card.status).toBe(200);
    expect(card.headers.get("cache-control")).toBe("public, max-age=300");
    await card.text();
    const hidden = await open(secured({ cards: "private" }));
    for (const path of [CARD, "/.well-known/agent.json", `/agents/echo${CARD}`]) {
      const refused = await hidden.request(path);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe(CHALLENGES);
      expect(refused.headers.get("cache-control")).toBe("private, no-store");
      expect(await refused.text()).not.toContain("Says it again");
      const shown = await hidden.request(path, { headers: as("ada") });
      expect(shown.status).toBe(200);
      expect(shown.headers.get("cache-control")).toBe("private, max-age=300");
      expect(shown.headers.get("vary")).toMatch(/X-API-Key, Authorization$/);
      expect(shown.headers.get("access-control-allow-origin")).toBeNull();
      const etag = shown.headers.get("etag") ?? "";
      expect((await hidden.request(path, { headers: { "if-none-match": etag } })).status).toBe(401);
      expect((await hidden.request(path, { headers: { "if-none-match": etag, ...as("ada") } })).status).toBe(304);
      expect((await hidden.request(path, { method: "HEAD" })).status).toBe(401);
      await shown.text();
    }
    expect((await hidden.request("/healthz")).status).toBe(200);
  });

  it("shows a private card only to callers who may use the agent", async () => {
    const entries: AuditEntry[] = [];
    const policies = [
      { agent: "echo", scopes: ["echo"] },
      { operation: "cancel", scopes: ["cancel"] },
    ] as const;
    const audit = (entry: AuditEntry): void => void entries.push(entry);
    const site = await open(secured({ cards: "private", policies }, { audit }));
    const refused = await site.request(CARD, { headers: as("ada") });
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toContain('error="insufficient_scope", scope="echo"');
    expect(await refused.text()).not.toContain("Says it again");
    expect((await site.request(CARD, { headers: as("ada+echo") })).status).toBe(200);
    expect(entries).toMatchObject([
      { principal: "token:ada", operation: "card", outcome: "permission-denied" },
      { principal: "token:ada", operation: "card", outcome: "ok" },
    ]);
  });

  it("requires the same permission for a webhook in a message as for push-create", async () => {
    const policies = [{ operation: "push-create", scopes: ["hooks"] }] as const;
    const site = await open(secured({ policies }));
    const push = { configuration: { taskPushNotificationConfig: { url: "https://hooks.example.com/" } } };
    for (const method of ["SendMessage", "SendStreamingMessage"]) {
      const refused = await site.post(method, { ...textMessage("hi"), ...push }, as("ada"));
      expect(refused.status).toBe(403);
      expect(refused.headers.get("www-authenticate")).toContain('scope="hooks"');
      await refused.text();
    }
    expect(site.engine.submissions).toEqual([]);
    expect((await site.post("SendMessage", textMessage("hi"), as("ada"))).status).toBe(200);
  });

  it("sends one challenge if two schemes have the same", async () => {
    const site = await open(secured({ schemes: { staff: bearer, guests: bearer } }));
    for (const [headers, asked] of [
      [{}, 'Bearer realm="palaver"'],
      [as("bad"), 'Bearer realm="palaver", error="invalid_token"'],
    ] as const) {
      const refused = await site.post("GetTask", { id: "x" }, headers);
      expect(refused.headers.get("www-authenticate")).toBe(asked);
      await refused.text();
    }
  });

  it("checks policies before it looks up any task", async () => {
    const policies = [{ operation: ["get", "cancel"] as const, scopes: ["read"] }];
    const site = await open(secured({ policies }));
    const sent = await site.call("SendMessage", textMessage("hi"), as("ada"));
    const bodies = new Set<string>();
    for (const id of [sent.result.task.id, "no-such-task"]) {
      const refused = await site.post("GetTask", { id }, as("ada"));
      expect(refused.status).toBe(403);
      expect(refused.headers.get("www-authenticate")).toBe(
        'Bearer realm="palaver", error="insufficient_scope", scope="read"',
      );
      bodies.add(await refused.text());
    }
    expect(bodies.size).toBe(1);
    expect((await site.post("GetTask", { id: sent.result.task.id }, as("ada+read"))).status).toBe(200);
    expect((await site.post("ListTasks", {}, as("ada"))).status).toBe(200);
  });

  it("answers 401 to anonymous callers who do not satisfy a policy", async () => {
    const site = await open(secured({ require: [{}], policies: [{ operation: "list", scopes: ["read"] }] }));
    const refused = await site.post("ListTasks", {});
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(CHALLENGES);
    expect((await site.post("ListTasks", {}, as("ada"))).status).toBe(403);
  });

  it("gives the engine a check for skills with requirements", async () => {
    const skill = { id: "audit", name: "Audit", description: "Audits.", tags: ["audit"] };
    const definition = {
      skills: [
        { ...skill, security: [{ token: ["audit"] }] },
        { ...skill, id: "look" },
      ],
    };
    const policies = [{ skill: "look", claims: { role: "clerk" } }];
    const site = await open(secured({ policies }, { definition }));
    await site.post("SendMessage", textMessage("hi"), { "x-api-key": "k" });
    await site.post("SendMessage", textMessage("hi"), as("ada"));
    await site.post("SendMessage", textMessage("hi"), as("ada+audit"));
    const [byKey, byToken, byScope] = site.engine.submissions;
    expect(() => byKey?.admitSkill?.("audit")).toThrow(
      expect.objectContaining({ code: "unauthenticated", challenges: ['Bearer realm="palaver"'] }),
    );
    expect(() => byToken?.admitSkill?.("audit")).toThrow(expect.objectContaining({ code: "permission-denied" }));
    expect(() => byScope?.admitSkill?.("audit")).not.toThrow();
    expect(() => byScope?.admitSkill?.("look")).toThrow(
      expect.objectContaining({ code: "permission-denied", challenges: [] }),
    );
  });

  it("hides tasks of other tenants as if they did not exist", async () => {
    const site = await open(secured());
    const refused = await site.rest("GET /globex/tasks/t-1", undefined, as("ada~acme"));
    const unknown = await site.rest("GET /acme/tasks/t-1", undefined, as("ada~acme"));
    expect([refused.status, await refused.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(refused.status).toBe(404);
    expect((await site.rest("GET /globex/tasks", undefined, as("ada~acme"))).status).toBe(403);
    expect((await site.rest("POST /globex/message:send", textMessage("hi"), as("ada~acme"))).status).toBe(403);
    expect((await site.rest("POST /message:send", textMessage("hi"), as("ada~acme"))).status).toBe(200);
    expect(site.engine.submissions.map(({ scope }) => scope)).toEqual([
      { agent: "echo", tenant: "acme", owner: "token:ada" },
    ]);
  });

  it("writes every call and every refusal to the audit log, without message contents", async () => {
    const entries: AuditEntry[] = [];
    const site = await open(secured({ cards: "private" }, { audit: (entry) => void entries.push(entry) }));
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const headers = { ...as("ada"), traceparent: `00-${trace}-b7ad6b7169203331-01` };
    const { result } = await site.call("SendMessage", textMessage("the secret words"), headers);
    await site.call("GetTask", { id: "nothing" }, as("bad"));
    await site.rest("GET /acme/tasks/nothing", undefined, as("ada"));
    await (await site.post("SendStreamingMessage", textMessage("more"), as("ada"))).text();
    await site.call("NoSuchMethod", {}, as("ada"));
    await site.request(CARD);
    await site.call("ListTasks", {}, { "x-api-key": "k" });
    expect(entries).toMatchObject([
      {
        principal: "token:ada",
        agent: "echo",
        operation: "send",
        taskId: result.task.id,
        outcome: "ok",
        traceId: trace,
      },
      { principal: "anonymous", outcome: "unauthenticated" },
      { principal: "token:ada", operation: "get", tenant: "acme", taskId: "nothing", outcome: "task-not-found" },
      { principal: "token:ada", operation: "stream", outcome: "ok" },
      { principal: "token:ada", outcome: "method-not-found" },
      { principal: "anonymous", agent: "echo", operation: "card", outcome: "unauthenticated" },
      { principal: "key:ci", credential: "key 7", operation: "list", outcome: "ok" },
    ]);
    expect(entries[0]).not.toHaveProperty("credential");
    expect(JSON.stringify(entries)).not.toMatch(/secret|Bearer|more/);
  });
});

describeFaces("A server whose callers repeat themselves", (open, face) => {
  it("refuses two Authorization headers", async () => {
    const site = await open(secured());
    if (face === "fetch") {
      const headers = new Headers([
        ["authorization", "Bearer ada"],
        ["authorization", "Bearer bob"],
      ]);
      expect((await site.request("/tasks", { headers })).status).toBe(401);
      return;
    }
    const { request } = await import("node:http");
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = ["authorization", "Bearer ada", "authorization", "Bearer bob", "host", "x"];
      request(`${site.url}/tasks`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(401);
  });
});
