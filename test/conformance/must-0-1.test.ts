import { agent, createServer } from "palaver";
import { expect, it } from "vitest";
import { checkCard } from "./card-shapes.ts";
import { accepted, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_1 } from "./dialect-clients/v0-1-jsonrpc.ts";
import { inEveryDialect, WAITING } from "./every-dialect.ts";
import { statesOf } from "./fold.ts";
import { EventSource, exchange, type HttpAnswer, jsonOf, sendHttp, typeOf } from "./http.ts";
import { openInbox } from "./inbox.ts";
import { nobody, openTestServer } from "./test-server.ts";

/** The requirements for a server of 0.1. */
inEveryDialect([jsonRpc0_1], ({ dialectClient, caller, textToRun, url }) => {
  const request = (body: unknown) => ({
    method: "POST",
    url: `${url()}/a2a`,
    headers: { "content-type": "application/json", "a2a-version": "0.1" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const post = (body: unknown): Promise<HttpAnswer> => exchange(request(body));
  const message = (words: string) => ({ role: "user", parts: [{ type: "text", text: words }] });

  it("0.1 MUST: it is JSON-RPC 2.0 over HTTP, application/json both ways", async () => {
    for (const id of ["a", 7, null]) {
      const answer = await post({ jsonrpc: "2.0", id, method: "tasks/get", params: { id: "nothing" } });
      expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
      expect(Object.keys(jsonOf<object>(answer)).toSorted()).toEqual(["error", "id", "jsonrpc"]);
      expect(jsonOf<object>(answer)).toMatchObject({ jsonrpc: "2.0", id, error: { code: -32001 } });
    }
    for (const [code, body] of [
      [-32700, "{"],
      [-32600, { jsonrpc: "1.0", id: 1, method: "tasks/get", params: { id: "x" } }],
      [-32601, { jsonrpc: "2.0", id: 1, method: "tasks/none" }],
      [-32602, { jsonrpc: "2.0", id: 1, method: "tasks/get", params: {} }],
    ] as const) {
      expect(JSON.parse((await post(body)).text).error.code).toBe(code);
    }
    const { id } = await taskOf(caller().send(text(textToRun(async () => "done")), { wait: true }));
    for (const [code, outcome] of [
      [-32001, await caller().cancel("nothing")],
      [-32002, await caller().cancel(id)],
      [-32003, await caller("mute").pushGet(id, "")],
      [-32005, await caller("picky").send({ parts: [{ data: {} }] })],
      [-32006, await caller("quiet").stream(text("hi"))],
      [-32009, await caller().send({ ...text("more"), taskId: id })],
    ] as const) {
      expect(outcome.http.text).toContain(`"code":${code}`);
    }
  });

  it("0.1 MUST: streams are text/event-stream, each event is a complete response with the request's id, about the requested task", async () => {
    const opening = textToRun(async function* (task) {
      yield "one";
      await task.artifact("other").end("two");
    });
    const response = await sendHttp(
      request({
        jsonrpc: "2.0",
        id: "s",
        method: "tasks/sendSubscribe",
        params: { id: "mine", message: message(opening) },
      }),
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const source = new EventSource(response);
    const results: Array<{ readonly id: string; readonly final?: boolean; readonly artifact?: object }> = [];
    for (let event = await source.next(); event !== undefined; event = await source.next()) {
      const body = JSON.parse(event.data);
      expect(Object.keys(body).toSorted()).toEqual(["id", "jsonrpc", "result"]);
      expect([body.jsonrpc, body.id, body.result.id]).toEqual(["2.0", "s", "mine"]);
      results.push(body.result);
    }
    expect(results.flatMap(({ artifact }) => artifact ?? [])).toMatchObject([
      { index: 0 },
      { index: 1, lastChunk: true },
    ]);
    expect(results.map(({ final }) => final === true)).toEqual(results.map((result) => result === results.at(-1)));
  });

  it("0.1 MUST: the card is at agent.json, and its address supports what the card declares", async () => {
    const headers = { "a2a-version": "0.1" };
    const answer = await exchange({ method: "GET", url: `${url()}/.well-known/agent.json`, headers });
    expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
    checkCard("0.1", JSON.parse(answer.text));
    const unnamed = await exchange({ method: "GET", url: `${url()}/.well-known/agent.json`, headers: {} });
    for (const card of [answer, unnamed].map(jsonOf<{ url: string }>)) {
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/send",
        params: { id: "x", message: message(textToRun(async () => "")) },
      };
      const found = await exchange({ ...request(body), url: card.url });
      expect(found.text).toMatch(/"result":\{"id":"x"|-32009/);
    }
  });

  it("0.1 MUST: the credentials section of the card contains no secret", async () => {
    const server = createServer(
      agent({
        name: "Guarded",
        description: "Wants a key.",
        version: "1.0.0",
        securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key", description: "Ours is swordfish." } },
        security: [{ key: [] }],
        run: async () => "",
      }),
      {
        port: 0,
        host: "127.0.0.1",
        store: "memory:",
        logger: { debug() {}, info() {}, warn() {}, error() {} },
        authenticate: () => undefined,
      },
    );
    const { url: address } = await server.listen();
    try {
      const card = await exchange({
        method: "GET",
        url: `${address}/.well-known/agent.json`,
        headers: { "a2a-version": "0.1" },
      });
      const { authentication } = jsonOf<{ authentication: { schemes: string[]; credentials: string } }>(card);
      expect(authentication.schemes).toEqual(["ApiKey"]);
      // Only where to put the key.
      expect(JSON.parse(authentication.credentials)).toEqual({ in: "header", name: "X-Key" });
    } finally {
      await server.close();
    }
  });

  it("0.1 MUST: every request is authenticated", async () => {
    await using guarded = await openTestServer({
      authenticate: () => {
        throw new Error("swordfish");
      },
    });
    for (const method of [
      "tasks/send",
      "tasks/sendSubscribe",
      "tasks/get",
      "tasks/cancel",
      "tasks/resubscribe",
      "tasks/pushNotification/set",
      "tasks/pushNotification/get",
    ]) {
      const body = { jsonrpc: "2.0", id: 1, method, params: { id: "x", message: message("hi") } };
      const { status, headers, text } = await exchange({ ...request(body), url: `${guarded.url}/a2a` });
      expect([method, status]).toEqual([method, 401]);
      expect(headers.get("www-authenticate")).toBeTruthy();
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", error: { code: -32007 } });
      expect(text).not.toContain("swordfish");
    }
  });

  it("0.1 MUST: webhooks must use HTTPS, unless the operator allows HTTP", async () => {
    await using strict = await openTestServer({ outgoing: { lookup: nobody }, blockingDefault: WAITING });
    const { id } = await taskOf(dialectClient.at(strict.of("echo")).send(text("hi"), { wait: true }));
    const set = (webhook: string) => dialectClient.at(strict.of("echo")).pushCreate(id, webhook);
    expect(await refused(set("http://hooks.example.org/"))).toMatchObject({
      name: "InvalidParams",
      fields: ["pushNotificationConfig.url"],
    });
    expect((await accepted(set("https://hooks.example.org/"))).url).toBe("https://hooks.example.org/");
  });

  it("0.1 MUST: the server authenticates to webhooks as configured", async () => {
    await using inbox = await openInbox();
    const push = { url: inbox.url(), authentication: { schemes: ["Basic"], credentials: "abc=" } };
    await taskOf(caller("echo").send(text("hi"), { wait: true, push }));
    expect((await inbox.next()).headers.authorization).toBe("Basic abc=");
  });

  it("0.1 MUST: messages and artifacts have at least one part", async () => {
    expect(await refusalOf(caller("echo").send({ parts: [] }, { wait: true }))).toBe("InvalidParams");
    expect(await refusalOf(caller("echo").stream({ parts: [] }))).toBe("InvalidParams");
    // The client refuses an artifact without parts.
    const opening = textToRun(async (task) => {
      await task.artifact("nothing").end();
    });
    const stream = await accepted(caller().stream(text(opening)));
    expect(statesOf(await stream.rest()).at(-1)).toBe("completed");
  });

  it.each<[string, unknown, boolean]>([
    ["bytes", { bytes: "aGk=", name: "a" }, true],
    ["an address", { uri: "https://example.org/a" }, true],
    ["both", { bytes: "aGk=", uri: "https://example.org/a" }, false],
    ["bytes that are no base64", { bytes: "?" }, false],
    ["an address that is none", { uri: 7 }, false],
  ])("0.1 MUST: a file whose content travels has either its bytes or an address: %s", async (_name, file, right) => {
    const alter = (params: object) => ({ ...params, message: { role: "user", parts: [{ type: "file", file }] } });
    const outcome = await caller("echo", { alter }).send(text("hi"), { wait: true });
    if (right) expect((await taskOf(outcome)).artifacts?.[0]?.parts).toHaveLength(1);
    else expect(await refusalOf(outcome)).toBe("InvalidParams");
  });
});
