import { describe, expect, it } from "vitest";
import { byName, openTarget, seen, sendParams } from "./attack-surface.ts";

/** Attacks against this server. Each test checks that the attack has no effect. */

const BOB_TASK = "00000000-0000-7000-8000-000000000000";

describe("Attack: reading or changing another caller's task", () => {
  it("gets the same bytes as for a task that never existed", async () => {
    await using target = await openTarget({ authenticate: byName });
    const sent = await target.rpc("SendMessage", sendParams("ask"), { as: "ada" });
    const { result } = (await sent.json()) as { result: { task: { id: string } } };
    const { id } = result.task;
    const tries: ((task: string) => Promise<Response>)[] = [
      (task) => target.rpc("GetTask", { id: task }, { as: "eve" }),
      (task) => target.rpc("CancelTask", { id: task }, { as: "eve" }),
      (task) => target.rpc("SubscribeToTask", { id: task }, { as: "eve" }),
      (task) => target.rpc("SubscribeToTask", { id: task }, { as: "eve", headers: { "last-event-id": "0" } }),
      (task) => target.rpc("SendMessage", sendParams("x", { taskId: task, messageId: "m" }), { as: "eve" }),
      (task) => target.rpc("SendStreamingMessage", sendParams("x", { taskId: task, messageId: "m" }), { as: "eve" }),
      (task) => target.rpc("GetTask", { id: task }),
      (task) => target.rest(`GET /tasks/${task}`, { as: "eve" }),
      (task) => target.rest(`POST /tasks/${task}:cancel`, { as: "eve", body: {} }),
      (task) => target.rest(`GET /tasks/${task}:subscribe`, { as: "eve" }),
      (task) => target.rest(`GET /other/tasks/${task}`, { as: "ada" }),
      (task) => target.rest(`GET /v1/tasks/${task}`, { as: "eve", headers: { "a2a-version": "0.3" } }),
    ];
    for (const attempt of tries) {
      const real = JSON.stringify(await seen(await attempt(id))).replaceAll(id, BOB_TASK);
      const made = JSON.stringify(await seen(await attempt(BOB_TASK)));
      expect(real).toBe(made);
      expect(real).toMatch(/not found/i);
    }
    const own = await target.rpc("GetTask", { id }, { as: "ada" });
    expect(await own.json()).toMatchObject({ result: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
  });

  it("fails also with the message id that created the task", async () => {
    await using target = await openTarget({ authenticate: byName });
    await (await target.rpc("SendStreamingMessage", sendParams("hi", { messageId: "known" }), { as: "ada" })).text();
    const stolen = await target.rpc("SendStreamingMessage", sendParams("hi", { messageId: "known" }), {
      as: "eve",
      headers: { "last-event-id": "0" },
    });
    expect(await stolen.json()).toMatchObject({ error: { code: -32602 } });
    expect(target.runs()).toBe(1);
  });
});

describe("Attack: a task id chosen by the client", () => {
  const named = (id: string) => ({ id, message: { role: "user", parts: [{ type: "text", text: "hi" }] } });
  const early = { "a2a-version": "0.1" };

  it("does not lead to another caller's task of that id", async () => {
    await using target = await openTarget({ authenticate: byName, blockingDefault: { "0.1/jsonrpc": "wait" } });
    const ada = await target.rpc("tasks/send", named("order-1"), { as: "ada", headers: early });
    expect(await ada.json()).toMatchObject({ result: { id: "order-1", status: { state: "completed" } } });
    const eve = await target.rpc("tasks/get", { id: "order-1" }, { as: "eve", headers: early });
    expect(await eve.json()).toMatchObject({ error: { code: -32001 } });
    const own = await target.rpc("tasks/send", named("order-1"), { as: "eve", headers: early });
    expect(await own.json()).toMatchObject({ result: { id: "order-1" } });
    // Clients cannot use the server's internal task ids.
    for (const id of ["~victim~~ada~order-1", "~victim~~eve~order-1"]) {
      const forged = await target.rpc("GetTask", { id }, { as: "eve" });
      expect(await forged.json()).toMatchObject({ error: { code: -32001 } });
    }
  });

  it("is never used as a path, whatever it contains", async () => {
    await using target = await openTarget({ blockingDefault: { "0.1/jsonrpc": "wait" } });
    for (const id of [
      "../../etc/passwd",
      "a/b",
      "%2e%2e%2f",
      "a~b~c",
      "__proto__",
      "constructor",
      "'; DROP TABLE task; --",
    ]) {
      const made = await target.rpc("tasks/send", named(id), { headers: early });
      expect(await made.json()).toMatchObject({ result: { id } });
      const read = await target.rpc("tasks/get", { id }, { headers: early });
      expect(await read.json()).toMatchObject({ result: { id, status: { state: "completed" } } });
      const rest = await target.rest(`GET /tasks/${encodeURIComponent(id)}`);
      expect(await rest.json()).toMatchObject({ id });
    }
  });
});

describe("Attack: two tenants in one request", () => {
  it("uses only the tenant in the path", async () => {
    await using target = await openTarget({ authenticate: byName });
    const made = await target.rest("POST /north/message:send", {
      as: "ada",
      body: { tenant: "south", ...sendParams("hi") },
    });
    const { task } = (await made.json()) as { task: { id: string } };
    const at = async (path: string) => (await target.rest(`GET ${path}`, { as: "ada" })).status;
    expect(await at(`/north/tasks/${task.id}`)).toBe(200);
    expect(await at(`/north/tasks/${task.id}?tenant=south`)).toBe(200);
    expect(await at(`/south/tasks/${task.id}`)).toBe(404);
    expect(await at(`/south/tasks/${task.id}?tenant=north`)).toBe(404);
    expect(await at(`/tasks/${task.id}`)).toBe(404);
  });
});

describe("Attack: a message text that imitates stream events", () => {
  it("cannot add a line to the stream", async () => {
    await using target = await openTarget();
    const forged = 'x\n\nevent: error\rdata: {"forged":1}\r\n\u2028\u2029id: 99\u0000\n\n';
    const name = forged.replaceAll("\u0000", "");
    const stream = await target.rpc("SendStreamingMessage", sendParams(forged, { messageId: name, contextId: name }));
    const text = await stream.text();
    const frames = text.split("\n\n").filter((part) => part !== "");
    expect(frames.length).toBeGreaterThan(3);
    for (const frame of frames) {
      const lines = frame.split(/\r\n|\r|\n/);
      for (const line of lines) expect(line).toMatch(/^(id: \d+$|data: \{"jsonrpc":"2\.0"|event: \w+$|:|retry: \d+$)/);
      const data = lines.filter((line) => line.startsWith("data: "));
      expect(data).toHaveLength(1);
      expect(JSON.parse(data[0]?.slice(6) ?? "")).toHaveProperty("result");
    }
  });
});

describe("Attack: malicious JSON", () => {
  const envelope = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${params}}`;

  it.each([
    ["is deep", envelope(`{"message":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
    [
      "is deeply nested in a part",
      envelope(
        `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}]}}`,
      ),
    ],
    ["has a huge number", envelope('{"message":{"messageId":1e999999,"role":"ROLE_USER","parts":[{"text":"x"}]}}')],
    ["is not UTF-8", envelope('{"message":{"messageId":"\uD800"}}')],
    [
      "has many parts",
      envelope(
        `{"message":{"messageId":"m","role":"ROLE_USER","parts":[${Array.from({ length: 200_000 }, () => "{}").join(",")}]}}`,
      ),
    ],
  ])("that %s is refused, and no run starts", async (_, body) => {
    await using target = await openTarget();
    const answer = await target.rest("POST /", { text: body });
    expect(answer.status).toBeLessThan(500);
    expect(await answer.text()).toContain('"error"');
    expect(target.runs()).toBe(0);
    expect((await target.rest("GET /healthz")).status).toBe(200);
  });

  it("does not change any prototype", async () => {
    await using target = await openTarget();
    const polluted = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const body = envelope(
      `{"__proto__":{"polluted":1},"metadata":${polluted},"message":{"__proto__":{"role":"ROLE_AGENT"},"messageId":"m","role":"ROLE_USER","metadata":${polluted},"parts":[{"data":${polluted}}]}}`,
    );
    const answer = await target.rest("POST /", { text: body });
    expect(answer.status).toBe(200);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

describe("Attack: a web page that calls the server from its visitor's browser", () => {
  it("starts no run without a preflight, and can read no response", async () => {
    await using target = await openTarget({ authenticate: byName });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: sendParams("hi") });
    // Requests that a page may send without a preflight: forms and plain text.
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      for (const path of ["/", "/message:send", "/a2a/tasks/send"]) {
        const answer = await target.rest(`POST ${path}`, {
          text: body,
          headers: { "content-type": type, origin: "https://evil.example" },
        });
        expect(answer.status).toBe(415);
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
    }
    // An empty request needs no preflight either.
    const sent = await target.rpc("SendMessage", sendParams("ask"), { as: "ada" });
    const { result } = (await sent.json()) as { result: { task: { id: string } } };
    const cancel = `POST /tasks/${result.task.id}:cancel`;
    const page = { as: "ada", headers: { origin: "https://evil.example" } };
    expect((await target.rest(cancel, page)).status).toBe(415);
    expect((await target.rest(cancel, { ...page, text: "" })).status).toBe(200);
    const preflight = await target.rest("OPTIONS /", {
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(target.runs()).toBe(1);
  });
});

describe("Attack: DNS rebinding of a web page's host name to this machine", () => {
  it("can neither read tasks nor start runs", async () => {
    await using target = await openTarget();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: sendParams("hi") });
    const head = `Host: rebound.example:${target.port}\r\nA2A-Version: 1.0\r\nConnection: close\r\n`;
    const read = await target.raw(`GET /tasks HTTP/1.1\r\n${head}\r\n`);
    const sent = await target.raw(
      `POST / HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    for (const answer of [read, sent]) expect(answer).toMatch(/^HTTP\/1\.1 421 /);
    expect(target.runs()).toBe(0);
  });
});

describe("Attack: forged proxy headers", () => {
  const spoofed = {
    "x-forwarded-for": "192.0.2.1",
    forwarded: "for=192.0.2.1;host=evil.example",
    "x-forwarded-host": "evil.example",
  };

  it("do not bypass a rate limit or change a card", async () => {
    await using target = await openTarget({ rateLimit: { address: { requests: 3, seconds: 60 } } });
    for (let index = 1; index <= 3; index++) {
      const card = await target.rest("GET /.well-known/agent-card.json", {
        headers: { ...spoofed, "x-forwarded-for": `192.0.2.${index}` },
      });
      expect(await card.text()).not.toContain("evil.example");
    }
    expect((await target.rest("GET /tasks/x", { headers: spoofed })).status).toBe(429);
  });

  it("do not put a forged Host into a card", async () => {
    await using target = await openTarget({ authenticate: byName });
    const answer = await target.raw(
      "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toContain("200 OK");
    expect(answer).not.toContain("evil.example");
  });
});

describe("Attack: ambiguous HTTP (request smuggling)", () => {
  it.each([
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a bare line feed in a header", "GET /healthz HTTP/1.1\nHost: x\nX: y\n\n"],
    ["no host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["a header of 100 KB", `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(100_000)}\r\n\r\n`],
    ["a thousand headers", `GET /healthz HTTP/1.1\r\nHost: x\r\n${"X: y\r\n".repeat(20_000)}\r\n`],
  ])("with %s is refused", async (_, bytes) => {
    await using target = await openTarget();
    expect(await target.raw(bytes)).toMatch(/^(HTTP\/1\.1 4\d\d |cut$)/);
    expect(target.runs()).toBe(0);
  });
});

describe("Attack: a compressed body that expands", () => {
  it("is not decompressed", async () => {
    await using target = await openTarget();
    const answer = await target.rest("POST /", { text: "{}", headers: { "content-encoding": "gzip" } });
    expect(answer.status).toBe(415);
  });
});
