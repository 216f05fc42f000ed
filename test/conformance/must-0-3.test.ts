import { describe, expect, it } from "vitest";
import { connect } from "../../src/client.ts";
import { openSession, rawCall, SERVICE_0_3 } from "../grpc/call.ts";
import { EMPTY_MESSAGE } from "../grpc/protobuf.ts";
import { checkCard } from "./card-shapes.ts";
import { accepted, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS_0_3 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { kindsOf, statesOf } from "./fold.ts";
import { exchange, type HttpAnswer, jsonOf, typeOf } from "./http.ts";
import { outputOf } from "./neutral.ts";
import { REFUSALS } from "./refusals.ts";
import { NEEDED, OFFERED, openTestServer } from "./test-server.ts";

/** The requirements for a server of 0.3, by number; `musts.test.ts` checks that none is missing. */
inEveryDialect(DIALECT_CLIENTS_0_3, ({ dialectClient, caller, textToRun, url }) => {
  const done = () => text(textToRun(async () => "done"));
  const asking = () => text(textToRun(async (task) => `You chose ${await task.ask("Which?")}`));
  const readCard = async (path = "") => {
    const answer = await exchange({
      method: "GET",
      url: `${url()}${path}/.well-known/agent-card.json`,
      headers: { "a2a-version": "0.3" },
    });
    return { answer, card: JSON.parse(answer.text) };
  };
  const post = (body: unknown, { type = "application/json", accept = "*/*" } = {}): Promise<HttpAnswer> =>
    exchange({
      method: "POST",
      url: `${url()}/a2a`,
      headers: { "content-type": type, accept },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  it("0.3 MUST 1: it is served over HTTP, and its own URLs use HTTPS behind a TLS proxy", async () => {
    expect((await readCard()).answer.status).toBe(200);
    await using behind = await openTestServer({ publicUrl: "https://agents.example.org" });
    const answer = await exchange({
      method: "GET",
      url: `${behind.url}/.well-known/agent-card.json`,
      headers: { "a2a-version": "0.3" },
    });
    const card = jsonOf<{ url: string; additionalInterfaces: { url: string; transport: string }[] }>(answer);
    expect(card.url).toMatch(/^https:\/\/agents\.example\.org/);
    for (const { url, transport } of card.additionalInterfaces)
      expect(url).toMatch(transport === "GRPC" ? /^agents\.example\.org:443$/ : /^https:\/\/agents\.example\.org/);
  });

  it("0.3 MUST 2: all declared transports have the same operations and results", async () => {
    const callerOptions = {
      token: "must2",
      bodyless: dialectClient.dialect === "0.3/rest-json" ? "json" : "proto",
    } as const;
    const callers = DIALECT_CLIENTS_0_3.map((each) => ({
      ...each.at(url(), callerOptions),
      reduction: each.reduction,
    }));
    const [one] = callers;
    if (one === undefined) throw new Error("There is a transport.");
    const { id } = await taskOf(one.send(asking(), { wait: true }));
    const { id: finished } = await taskOf(one.send(done(), { wait: true }));
    for (const other of callers) {
      const task = await accepted(one.get(id));
      expect(await accepted(other.get(id))).toEqual(other.reduction?.task(task) ?? task);
      expect(await refusalOf(other.get("nothing"))).toBe("TaskNotFound");
      expect(await refusalOf(other.cancel(finished))).toBe("TaskNotCancelable");
      expect(await refusalOf(other.send({ ...text("more"), taskId: finished }))).toBe("UnsupportedOperation");
      const { id: webhook = "" } = await accepted(one.pushCreate(id, "https://example.org/hook"));
      expect((await accepted(other.pushGet(id, webhook)))?.url).toBe("https://example.org/hook");
      await accepted(other.pushDelete(id, webhook));
      expect(await refusalOf(other.pushGet(id, webhook))).toBe("TaskNotFound");
      expect(kindsOf(await (await accepted(other.subscribe(finished))).rest())).toEqual(["task"]);
      expect(await refusalOf(other.extendedCard())).toBe("ExtendedCardNotConfigured");
    }
  });

  it("0.3 MUST 3: the card exists and is valid, and each address supports its declared transport", async () => {
    const { answer, card } = await readCard();
    expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
    checkCard("0.3", card);
    const { preferredTransport, additionalInterfaces } = card;
    expect(additionalInterfaces).toContainEqual({ url: card.url, transport: preferredTransport });
    const transports = new Map<string, string>();
    for (const { url: address, transport } of additionalInterfaces) {
      expect(transports.get(address) ?? transport).toBe(transport);
      transports.set(address, transport);
      if (transport === "GRPC") {
        const client = await connect(url(), { binding: "GRPC", version: "0.3" });
        await expect(client.task("nothing").get()).rejects.toMatchObject({ code: "task-not-found" });
        continue;
      }
      const found =
        transport === "JSONRPC"
          ? await exchange({
              method: "POST",
              url: address,
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "nothing" } }),
            })
          : await exchange({ method: "GET", url: `${address}/v1/tasks/nothing`, headers: {} });
      expect(found.text).toContain("-32001");
    }
    expect(transports.size).toBeGreaterThan(1);
  });

  it("0.3 MUST 4: the server supports sending messages, and getting and canceling tasks", async () => {
    const { id } = await taskOf(caller().send(asking(), { wait: true }));
    expect((await accepted(caller().get(id))).status.state).toBe("input-required");
    expect((await accepted(caller().cancel(id))).status.state).toBe("canceled");
  });

  it("0.3 MUST 5: optional features work if their capability is declared, and are refused otherwise", async () => {
    const capabilities = async (path: string) => (await readCard(path)).card.capabilities;
    expect(await capabilities("")).toMatchObject({ streaming: true, pushNotifications: true });
    expect(await capabilities("/agents/mute")).toMatchObject({ pushNotifications: false });
    const { id } = await taskOf(caller().send(asking(), { wait: true }));
    const webhook = await accepted(caller().pushCreate(id, "https://example.org/hook"));
    expect((await accepted(caller().pushList(id))).webhooks).toEqual([webhook]);
    expect(statesOf(await (await accepted(caller().stream(done()))).rest()).at(-1)).toBe("completed");
    expect(await refusalOf(caller("mute").pushCreate("x", "https://example.org/hook"))).toBe(
      "PushNotificationNotSupported",
    );
    expect(await capabilities("/agents/quiet")).toMatchObject({ streaming: false });
    expect(await refusalOf(caller("quiet").stream(text("hi")))).toBe("UnsupportedOperation");
    expect(await refusalOf(caller("quiet").subscribe("x"))).toBe("UnsupportedOperation");
    expect((await readCard("/agents/discreet")).card.supportsAuthenticatedExtendedCard).toBe(true);
    expect((await accepted(caller("discreet", { token: "alice" }).extendedCard()))["name"]).toBe("discreet");
  });

  describe("0.3 MUST 6: JSON-RPC", () => {
    it("follows JSON-RPC 2.0 with application/json in both directions, and echoes the id unchanged", async () => {
      for (const id of ["a", "", 7, 0, -3, null]) {
        const answer = await post({ jsonrpc: "2.0", id, method: "tasks/get", params: { id: "nothing" } });
        expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
        const body = JSON.parse(answer.text);
        expect(body).toMatchObject({ jsonrpc: "2.0", id, error: { code: -32001 } });
        expect("result" in body).toBe(false);
      }
      expect((await post({ jsonrpc: "2.0", id: 1, method: "tasks/get" }, { type: "text/plain" })).status).toBe(415);
    });

    it("answers with a null id if the id could not be read", async () => {
      const answer = await post("{");
      expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
      const odd = await post({ jsonrpc: "2.0", id: { a: 1 }, method: "tasks/get", params: { id: "x" } });
      expect(JSON.parse(odd.text)).toMatchObject({ id: null, error: { code: -32600 } });
    });

    it("supports only methods of the form category/action", async () => {
      for (const method of ["tasks/got", "tasks", "message.send", "/", "tasks/"]) {
        const answer = await post({ jsonrpc: "2.0", id: 1, method, params: {} });
        expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([200, -32601]);
      }
    });
  });

  describe("0.3 MUST 7: a stream", () => {
    it("has status 200 and text/event-stream; each event is a complete response", async () => {
      const message = {
        kind: "message",
        messageId: "m",
        role: "user",
        parts: [{ kind: "text", text: done().parts[0]?.text }],
      };
      const answer = await post({ jsonrpc: "2.0", id: "s", method: "message/stream", params: { message } });
      expect([answer.status, typeOf(answer)]).toEqual([200, "text/event-stream"]);
      const events = answer.text.split("\n").filter((line) => line.startsWith("data: "));
      expect(events.length).toBeGreaterThan(2);
      const bodies = events.map((line) => JSON.parse(line.slice(6)));
      for (const body of bodies) expect(Object.keys(body).toSorted()).toEqual(["id", "jsonrpc", "result"]);
      expect(bodies.map(({ id }) => id)).toEqual(bodies.map(() => "s"));
      expect(bodies.map(({ result }) => result.kind)[0]).toBe("task");
      expect(bodies.map(({ result }) => result.final).filter((final) => final === true)).toHaveLength(1);
      expect(bodies.at(-1).result).toMatchObject({
        kind: "status-update",
        final: true,
        status: { state: "completed" },
      });
    });

    it("that cannot be opened gets an error, as an event if the client accepts only events", async () => {
      const request = { jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id: "nothing" } };
      const event = await post(request, { accept: "text/event-stream" });
      expect([event.status, typeOf(event)]).toEqual([200, "text/event-stream"]);
      expect(event.text).toMatch(/^event: error\ndata: \{"jsonrpc":"2.0","id":1,"error":\{"code":-32001/);
      const plain = await post(request, { accept: "application/json, text/event-stream" });
      expect([plain.status, typeOf(plain)]).toEqual([200, "application/json"]);
      expect(JSON.parse(plain.text)).toMatchObject({ id: 1, error: { code: -32001 } });
    });
  });

  it("0.3 MUST 9: REST has the specified paths and methods, JSON in both directions, meaningful statuses, and SSE for streams", async () => {
    const get = (path: string) => exchange({ method: "GET", url: `${url()}/v1${path}`, headers: {} });
    const { id } = await taskOf(caller("echo").send(text("hi"), { wait: true }));
    const found = await exchange({ method: "GET", url: `${url()}/agents/echo/v1/tasks/${id}`, headers: {} });
    expect([found.status, typeOf(found), JSON.parse(found.text).id]).toEqual([200, "application/json", id]);
    const missing = await get("/tasks/nothing");
    expect([missing.status, typeOf(missing)]).toEqual([404, "application/json"]);
    expect(Object.keys(JSON.parse(missing.text)).toSorted()).toEqual(["code", "data", "error", "message"]);
    expect((await get("/message:send")).status).toBe(405);
    expect((await get("/nowhere")).status).toBe(404);
    const canceled = await exchange({ method: "POST", url: `${url()}/agents/echo/v1/tasks/${id}:cancel`, headers: {} });
    expect([canceled.status, JSON.parse(canceled.text).code]).toEqual([409, -32002]);
    const stream = await exchange({ method: "GET", url: `${url()}/agents/echo/v1/tasks/${id}:subscribe`, headers: {} });
    expect([stream.status, typeOf(stream)]).toEqual([200, "text/event-stream"]);
    const isKinded = dialectClient.dialect === "0.3/rest-json";
    expect(stream.text).toMatch(isKinded ? /data: \{"kind":"task",/ : /data: \{"task":/);
  });

  it.runIf(dialectClient.binding === "grpc")(
    "0.3 MUST 8: gRPC has the service and methods of the definition, over HTTP/2, with the statuses of the errors",
    async () => {
      const session = await openSession(url());
      const methodNames = [
        ...["SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "TaskSubscription", "GetAgentCard"],
        ...["Create", "Get", "List", "Delete"].map((verb) => `${verb}TaskPushNotificationConfig`),
      ];
      for (const method of methodNames) {
        const { http, grpc } = await rawCall(session, { path: `/${SERVICE_0_3}/${method}`, body: EMPTY_MESSAGE });
        expect([method, http, grpc]).toEqual([method, 200, method === "GetAgentCard" ? 9 : 3]);
      }
      const frames = await (await accepted(caller().stream(done()))).rest();
      expect(frames.length).toBeGreaterThan(1);
      expect(await refusalOf(caller().get("nothing"))).toBe("TaskNotFound");
      session.destroy();
    },
  );

  it("0.3 MUST 10: errors have the codes of the protocol", async () => {
    const { id } = await taskOf(caller().send(done(), { wait: true }));
    const outcomes = [
      [-32001, await caller().get("nothing")],
      [-32002, await caller().cancel(id)],
      [-32003, await caller("mute").pushGet(id, "c")],
      [-32004, await caller("quiet").stream(text("hi"))],
      [-32005, await caller("picky").send({ parts: [{ data: {} }] })],
      [-32007, await caller().extendedCard()],
      [-32602, await caller().send({ parts: [] })],
    ] as const;
    for (const [code, outcome] of outcomes) {
      // gRPC has a status and the name of the error, which the client compares.
      if (dialectClient.binding === "grpc") expect(!outcome.ok && REFUSALS[outcome.refusal.name].code).toBe(code);
      else expect(outcome.http.text).toContain(`"code":${code}`);
    }
    for (const [code, body] of [
      [-32700, "{"],
      [-32600, "[]"],
      [-32601, '{"jsonrpc":"2.0","id":1,"method":"tasks/none"}'],
    ] as const) {
      expect(JSON.parse((await post(body)).text).error.code).toBe(code);
    }
  });

  it("0.3 MUST 11: objects have a kind, in JSON-RPC and in the JSON style of REST", async () => {
    const opening = textToRun(async (task) => {
      await task.artifact("a").end([{ text: "t" }, { data: { d: 1 } }, { raw: "aGk=" }]);
      await task.ask("?");
    });
    const outcome = await caller().send(text(opening), { wait: true });
    // In ProtoJSON the member that contains an object shows its kind.
    if (dialectClient.dialect === "0.3/rest-proto" || dialectClient.dialect === "0.3/grpc") {
      expect(outcome.http.text).not.toMatch(/"kind":"(task|message|text|data|file)"/);
      return;
    }
    const body = jsonOf<{ readonly result?: object }>(outcome.http);
    expect(body.result ?? body).toMatchObject({
      kind: "task",
      status: { message: { kind: "message" } },
      history: expect.arrayContaining([expect.objectContaining({ kind: "message", role: "user" })]),
      artifacts: [{ parts: [{ kind: "text" }, { kind: "data" }, { kind: "file" }] }],
    });
    // Requests may omit `kind`, as official examples do.
    const alter = (request: object) => JSON.parse(JSON.stringify(request).replaceAll(/"kind":"(message|text)",/g, ""));
    expect(outputOf(await taskOf(caller("echo", { alter }).send(text("hi"), { wait: true })))).toBe("hi");
    const wrong = (request: object) => JSON.parse(JSON.stringify(request).replace('"kind":"message"', '"kind":"task"'));
    expect(await refusalOf(caller("echo", { alter: wrong }).send(text("hi"), { wait: true }))).toBe("InvalidParams");
  });

  it("0.3 MUST 13: the public card omits the extended details", async () => {
    for (const path of ["/agents/discreet", "/agents/tactful"]) {
      const { answer } = await readCard(path);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("secret");
    }
    expect(await refusalOf(caller("discreet").extendedCard())).toBe("Unauthenticated");
    expect(await accepted(caller("discreet", { token: "alice" }).extendedCard())).toMatchObject({
      skills: [{ id: "secret" }],
    });
  });

  it("0.3 MUST 14: parameters and the content of parts are validated", async () => {
    const part = (wrong: unknown) => (body: object) => {
      const { message } = body as { readonly message: object };
      const parts =
        dialectClient.dialect === "0.3/rest-proto" || dialectClient.dialect === "0.3/grpc" ? "content" : "parts";
      return { ...body, message: { ...message, [parts]: [wrong] } };
    };
    // Messages of protobuf cannot carry values of other types.
    const wrongTypes =
      dialectClient.binding === "grpc" ? [] : [null, 7, { kind: "text", text: 1 }, { kind: "data", data: undefined }];
    const wrongParts = [...wrongTypes, {}, { kind: "text" }, { kind: "file" }, { kind: "file", file: {} }];
    for (const wrong of wrongParts) {
      const refusal = await refused(caller("echo", { alter: part(wrong) }).send(text("hi"), { wait: true }));
      expect([wrong, refusal.name]).toEqual([wrong, "InvalidParams"]);
    }
    expect(await refusalOf(caller().get("x", -1))).toBe("InvalidParams");
  });

  it("0.3 MUST 15: a finished task never restarts, and messages to it fail", async () => {
    let runs = 0;
    const opening = textToRun(async (task) => {
      runs += 1;
      if (task.text === "") task.reject("No.");
    });
    const { id } = await taskOf(caller().send(text(opening), { wait: true }));
    expect(await refusalOf(caller().send({ ...text(opening), taskId: id }))).toBe("UnsupportedOperation");
    expect(await refusalOf(caller().stream({ ...text(opening), taskId: id }))).toBe("UnsupportedOperation");
    const canceled = await taskOf(caller().send(asking(), { wait: true }));
    await accepted(caller().cancel(canceled.id));
    expect(await refusalOf(caller().send({ ...text("go on"), taskId: canceled.id }))).toBe("UnsupportedOperation");
    expect(runs).toBe(1);
    expect((await accepted(caller().get(id))).status.state).toBe("completed");
  });

  it("0.3 MUST 17: there is no fallback to another version of an extension, and no extension adds a method", async () => {
    const other = await caller(undefined, { extensions: [OFFERED.replace("v1", "v9")] }).send(done(), { wait: true });
    expect(other.http.headers.get("X-A2A-Extensions")).toBeNull();
    const { name, facts } = await refused(
      caller("needy", { extensions: [NEEDED.replace("v2", "v1")] }).send(text("hi")),
    );
    expect(name).toBe("InvalidParams");
    if (!dialectClient.rules.errorsAreText) expect(facts).toMatchObject({ requiredExtensions: [NEEDED] });
    const unknown = await post({ jsonrpc: "2.0", id: 1, method: `${OFFERED}/do`, params: {} });
    expect(JSON.parse(unknown.text).error.code).toBe(-32601);
  });
});
