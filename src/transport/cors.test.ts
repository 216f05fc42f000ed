import { describe, expect, it } from "vitest";
import { apiKeys } from "../auth/verify/api-keys.ts";
import { createSecurity } from "../server/security.ts";
import { CorsPolicy } from "./cors.ts";
import { allFrames, describeFaces, type Site, textMessage } from "./test/faces.ts";

const APP = "https://app.example";
const OTHER = "https://other.example";
const EXPOSED =
  "A2A-Extensions, X-A2A-Extensions, ETag, WWW-Authenticate, Retry-After, Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " +
  "RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Mcp-Session-Id";
const CARD = "/.well-known/agent-card.json";

type Answered = Readonly<Record<string, string>>;

/** The CORS headers of an answer. */
function corsOf({ headers }: Response): Answered {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
}

const CONFIG = "/tasks/a/pushNotificationConfigs/c";
const NOTHING: Answered = {};
const PREFLIGHT: Answered = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "Content-Type, Authorization, A2A-Version, A2A-Extensions, X-A2A-Extensions, Last-Event-ID, If-None-Match, Traceparent, Tracestate, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
  "access-control-max-age": "7200",
};
const OPEN: Answered = { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED };
const allowed = (origin: string): Answered => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": EXPOSED,
});

/** A request by a page of this origin, or by no page. */
async function send(site: Site, { path, init = {} }: Asked, origin: string | undefined): Promise<Response> {
  const headers = { "content-type": "application/json", ...(origin !== undefined && { origin }) };
  return site.request(path, { ...init, headers });
}

interface Asked {
  readonly path: string;
  readonly init?: RequestInit;
}

const get = (path: string): Asked => ({ path });
const SEND: Asked = { path: "/message:send", init: { method: "POST", body: JSON.stringify(textMessage("x")) } };
const rpc = (path: string): Asked => ({
  path,
  init: { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}' },
});

describeFaces("Web pages", (open) => {
  it.each([
    { origins: [], origin: undefined, asked: rpc("/"), expected: NOTHING },
    { origins: [], origin: APP, asked: rpc("/"), expected: NOTHING },
    { origins: [], origin: APP, asked: get("/tasks"), expected: NOTHING },
    { origins: [], origin: APP, asked: get("/v1/tasks"), expected: NOTHING },
    { origins: [], origin: APP, asked: get("/nowhere"), expected: NOTHING },
    { origins: [], origin: APP, asked: get("/healthz"), expected: NOTHING },
    { origins: [], origin: undefined, asked: get(CARD), expected: OPEN },
    { origins: [], origin: APP, asked: get(CARD), expected: OPEN },
    { origins: [], origin: APP, asked: get(`/agents/echo${CARD}`), expected: OPEN },
    { origins: [], origin: "null", asked: get(CARD), expected: OPEN },
    { origins: [], origin: APP, asked: { path: CARD, init: { method: "DELETE" } }, expected: OPEN },
    { origins: [APP], origin: APP, asked: get(CARD), expected: OPEN },
    { origins: [APP], origin: OTHER, asked: get(CARD), expected: OPEN },
    { origins: [APP], origin: undefined, asked: rpc("/"), expected: NOTHING },
    { origins: [APP], origin: APP, asked: rpc("/"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: rpc("/a2a/"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: SEND, expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/tasks"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/acme/tasks"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/tasks/nope"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/v1/tasks/nope"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/agents/echo/tasks"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/nowhere"), expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: { path: "/tasks", init: { method: "PUT" } }, expected: allowed(APP) },
    { origins: [APP], origin: APP, asked: get("/healthz"), expected: allowed(APP) },
    { origins: [APP], origin: OTHER, asked: rpc("/"), expected: NOTHING },
    { origins: [APP], origin: OTHER, asked: get("/tasks"), expected: NOTHING },
    { origins: [APP], origin: "null", asked: get("/tasks"), expected: NOTHING },
    { origins: [APP], origin: "https://app.example.evil.example", asked: get("/tasks"), expected: NOTHING },
    { origins: [APP], origin: "http://app.example", asked: get("/tasks"), expected: NOTHING },
    { origins: [APP], origin: "https://app.example:8443", asked: get("/tasks"), expected: NOTHING },
    { origins: ["https://App.Example:443/"], origin: APP, asked: get("/tasks"), expected: allowed(APP) },
    {
      origins: ["http://localhost:5173"],
      origin: "http://localhost:5173",
      asked: get("/tasks"),
      expected: allowed("http://localhost:5173"),
    },
    { origins: [OTHER, APP], origin: APP, asked: get("/tasks"), expected: allowed(APP) },
    { origins: ["null"], origin: "null", asked: get("/tasks"), expected: allowed("null") },
    { origins: ["*"], origin: OTHER, asked: get("/tasks"), expected: allowed(OTHER) },
    { origins: ["*"], origin: "null", asked: rpc("/"), expected: allowed("null") },
    { origins: ["*"], origin: undefined, asked: get("/tasks"), expected: NOTHING },
  ])(
    "allowed: $origins; origin: $origin; path: $asked.path; CORS headers: $expected",
    async ({ origins, origin, asked, expected }) => {
      const site = await open({ corsOrigins: origins });
      const response = await send(site, asked, origin);
      expect(corsOf(response)).toEqual(expected);
      const varies = response.headers.get("vary")?.split(", ").includes("Origin") ?? false;
      expect(varies).toBe(origin !== undefined && origins.length > 0 && !asked.path.endsWith(CARD));
    },
  );

  it.each([
    { origins: [], origin: APP, path: "/", expected: NOTHING, allow: "POST, OPTIONS" },
    { origins: [], origin: APP, path: "/tasks/a", expected: NOTHING, allow: "GET, HEAD, OPTIONS" },
    { origins: [APP], origin: OTHER, path: "/tasks/a", expected: NOTHING, allow: "GET, HEAD, OPTIONS" },
    { origins: [APP], origin: APP, path: "/", expected: allowed(APP), allow: "POST, OPTIONS" },
    { origins: [APP], origin: APP, path: "/message:stream", expected: allowed(APP), allow: "POST, OPTIONS" },
    { origins: [APP], origin: APP, path: CONFIG, expected: allowed(APP), allow: "GET, HEAD, DELETE, OPTIONS" },
    { origins: ["*"], origin: OTHER, path: "/tasks", expected: allowed(OTHER), allow: "GET, HEAD, OPTIONS" },
  ])("allowed: $origins; origin: $origin; preflight for $path; CORS headers: $expected", async (row) => {
    const site = await open({ corsOrigins: row.origins });
    const headers = { origin: row.origin, "access-control-request-method": "POST" };
    const response = await site.request(row.path, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe(row.allow);
    expect(await response.text()).toBe("");
    expect(corsOf(response)).toEqual(row.expected === NOTHING ? NOTHING : { ...row.expected, ...PREFLIGHT });
  });

  it("may send the header of the API key", async () => {
    const scheme = apiKeys({ in: "header", name: "X-Agent-Key", verify: () => undefined });
    const site = await open({ corsOrigins: [APP], security: createSecurity({ schemes: { key: scheme } }) });
    const headers = { origin: APP, "access-control-request-method": "POST" };
    const response = await site.request("/", { method: "OPTIONS", headers });
    expect(response.headers.get("access-control-allow-headers")?.split(", ")).toContain("X-Agent-Key");
  });

  it("of every origin may read cards, with any request headers", async () => {
    const site = await open();
    const response = await site.request(CARD, {
      method: "OPTIONS",
      headers: { origin: OTHER, "access-control-request-method": "GET" },
    });
    expect(response.status).toBe(204);
    expect(corsOf(response)).toMatchObject({ ...OPEN, "access-control-allow-methods": "GET, HEAD, OPTIONS" });
    expect(response.headers.get("access-control-allow-headers")).toContain("A2A-Version");
    expect(response.headers.get("access-control-allow-headers")).toContain("If-None-Match");
    const { headers } = await site.request(CARD, { headers: { origin: OTHER } });
    const again = await site.request(CARD, { headers: { origin: OTHER, "if-none-match": headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
    expect(corsOf(again)).toEqual(OPEN);
    expect(headers.get("vary")).toContain("A2A-Version");
  });

  it.each([
    ["/message:stream", JSON.stringify(textMessage("x"))],
    ["/", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: textMessage("x") })],
  ])("of an allowed origin may read streams at %s", async (path, body) => {
    const site = await open({ corsOrigins: [APP] });
    const response = await send(site, { path, init: { method: "POST", body } }, APP);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(corsOf(response)).toEqual(allowed(APP));
    expect((await allFrames(response)).length).toBeGreaterThan(2);
  });

  it("may read errors", async () => {
    const site = await open({
      corsOrigins: [APP],
      authenticate: () => {
        throw new Error("no");
      },
    });
    const response = await send(site, get("/tasks"), APP);
    expect(response.status).toBe(401);
    expect(corsOf(response)).toEqual(allowed(APP));
  });
});

describe("A list of allowed origins", () => {
  it.each([
    "",
    "app.example",
    "https://",
    "https://app.example/path",
    "https://a.example?x",
    "https://*.example/x",
    "//x",
  ])("refuses %j as an origin", (origin) => {
    expect(() => new CorsPolicy([origin])).toThrow(TypeError);
  });

  it("accepts origins with other schemes than http and https", () => {
    expect(() => new CorsPolicy(["chrome-extension://abcdef", "capacitor://localhost"])).not.toThrow();
  });
});
