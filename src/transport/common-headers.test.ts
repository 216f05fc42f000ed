import { expect, it } from "vitest";
import { describeFaces, textMessage } from "./test/faces.ts";

const CARD = "/.well-known/agent-card.json";
const APP = "https://app.example";
const rpc = (method: string): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: textMessage("hello") });

describeFaces("X-Content-Type-Options: nosniff", (open) => {
  it.each([
    ["a result of JSON-RPC", "POST /", rpc("SendMessage"), 200],
    ["an error of JSON-RPC", "POST /", rpc("Nothing"), 200],
    ["a body that is not JSON", "POST /", "{", 400],
    ["a stream", "POST /message:stream", JSON.stringify(textMessage("hello")), 200],
    ["a result of REST", "GET /tasks", undefined, 200],
    ["an error of REST", "GET /tasks/none", undefined, 404],
    ["an unknown path", "GET /nowhere", undefined, 404],
    ["a method that is not allowed", "PUT /tasks", undefined, 405],
    ["a card", `GET ${CARD}`, undefined, 200],
    ["the head of a card", `HEAD ${CARD}`, undefined, 200],
    ["a preflight", "OPTIONS /tasks", undefined, 204],
    ["the liveness check", "GET /healthz", undefined, 200],
    ["the readiness check", "GET /readyz", undefined, 200],
  ] as const)("goes with %s", async (...row) => {
    const [, line, body, status] = row;
    const site = await open({ corsOrigins: [APP] });
    const [method = "", path = ""] = line.split(" ");
    const headers = { "content-type": "application/json", "a2a-version": "1.0", origin: APP };
    const response = await site.request(path, { method, headers, ...(body !== undefined && { body }) });
    expect(response.status).toBe(status);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    await response.body?.cancel();
  });

  it("is sent with 304 for a card that the caller already has", async () => {
    const site = await open();
    const etag = (await site.request(CARD)).headers.get("etag") ?? "";
    const response = await site.request(CARD, { headers: { "if-none-match": etag } });
    expect(response.status).toBe(304);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each([CARD, "/healthz", "/tasks", "/nowhere"])(
    "goes with HEAD %s as with GET, and all other headers too",
    async (path) => {
      const site = await open();
      const [get, head] = [await site.request(path), await site.request(path, { method: "HEAD" })];
      const headersOf = ({ headers }: Response) =>
        [...headers].filter(([name]) => !["date", "content-length", "connection", "keep-alive"].includes(name));
      expect(head.status).toBe(get.status);
      expect(headersOf(head)).toEqual(headersOf(get));
      expect(await head.text()).toBe("");
    },
  );

  it("is sent with the answer to a rate-limited caller", async () => {
    const site = await open({ rateLimit: { address: { requests: 1, seconds: 60 } } });
    await site.request("/tasks");
    const response = await site.request("/tasks");
    expect(response.status).toBe(429);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });
});
