import { describe, expect, it } from "vitest";
import { checkCard } from "./card-shapes.ts";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_2 } from "./dialect-clients/v0-2-jsonrpc.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { kindsOf, statesOf } from "./fold.ts";
import { exchange, type HttpAnswer, jsonOf, typeOf } from "./http.ts";
import { openInbox } from "./inbox.ts";
import { outputOf } from "./neutral.ts";

/** The requirements for a server of 0.2: those of 0.3, as far as the features existed. */
inEveryDialect([jsonRpc0_2], ({ caller, textToRun, url }) => {
  const done = () => text(textToRun(async () => "done"));
  const asking = () => text(textToRun(async (task) => `You chose ${await task.ask("Which?")}`));
  const post = (body: unknown, address = `${url()}/a2a`): Promise<HttpAnswer> =>
    exchange({
      method: "POST",
      url: address,
      headers: { "content-type": "application/json", "a2a-version": "0.2" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const readCard = async (path = "") => {
    const headers = { "a2a-version": "0.2" };
    return exchange({ method: "GET", url: `${url()}${path}/.well-known/agent.json`, headers });
  };

  it("0.2 MUST: the card is at agent.json and valid, and its address supports what the card declares", async () => {
    const answer = await readCard();
    expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
    checkCard("0.2", JSON.parse(answer.text));
    const card = jsonOf<{ url: string; preferredTransport: string; additionalInterfaces: object[] }>(answer);
    expect(card.preferredTransport).toBe("JSONRPC");
    expect(card.additionalInterfaces).toContainEqual({ url: card.url, transport: "JSONRPC" });
    const found = await post({ jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "nothing" } }, card.url);
    expect(jsonOf<object>(found)).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32001 } });
  });

  it("0.2 MUST: the server supports sending messages, and getting and canceling tasks", async () => {
    const { id } = await taskOf(caller().send(asking(), { wait: true }));
    expect((await accepted(caller().get(id))).status.state).toBe("input-required");
    expect((await accepted(caller().cancel(id))).status.state).toBe("canceled");
  });

  it("0.2 MUST: optional features work if declared, and are refused otherwise", async () => {
    const frames = await (await accepted(caller().stream(done()))).rest();
    expect([kindsOf(frames)[0], statesOf(frames).at(-1)]).toEqual(["task", "completed"]);
    expect(await refusalOf(caller("quiet").stream(text("hi")))).toBe("UnsupportedOperation");
    expect(await refusalOf(caller("mute").pushCreate("x", "https://example.org/hook"))).toBe(
      "PushNotificationNotSupported",
    );
    const { id } = await taskOf(caller().send(asking(), { wait: true }));
    const webhook = await accepted(caller().pushCreate(id, "https://example.org/hook"));
    expect((await accepted(caller().pushList(id))).webhooks).toEqual([webhook]);
    expect(JSON.parse((await readCard("/agents/discreet")).text).supportsAuthenticatedExtendedCard).toBe(true);
    expect((await accepted(caller("discreet", { token: "alice" }).extendedCard()))["name"]).toBe("discreet");
  });

  it("0.2 MUST: the server authenticates to webhooks as configured", async () => {
    await using inbox = await openInbox();
    const push = { url: inbox.url(), authentication: { schemes: ["Basic"], credentials: "abc=" } };
    await taskOf(caller("echo").send(text("hi"), { wait: true, push }));
    expect((await inbox.next()).headers.authorization).toBe("Basic abc=");
  });

  describe("0.2 MUST: JSON-RPC", () => {
    it("follows JSON-RPC 2.0 with application/json; the id is echoed unchanged, or null if it could not be read", async () => {
      for (const id of ["a", 7, null]) {
        const answer = await post({ jsonrpc: "2.0", id, method: "tasks/get", params: { id: "nothing" } });
        expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
        expect(Object.keys(jsonOf<object>(answer)).toSorted()).toEqual(["error", "id", "jsonrpc"]);
        expect(jsonOf<object>(answer)).toMatchObject({ id, error: { code: -32001 } });
      }
      expect(JSON.parse((await post("{")).text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    });

    it("uses the error codes of the version", async () => {
      const { id } = await taskOf(caller().send(done(), { wait: true }));
      for (const [code, outcome] of [
        [-32001, await caller().get("nothing")],
        [-32002, await caller().cancel(id)],
        [-32003, await caller("mute").pushGet(id, "c")],
        [-32004, await caller().send({ ...text("more"), taskId: id })],
        [-32005, await caller("picky").send({ parts: [{ data: {} }] })],
        [-32602, await caller().send({ parts: [] })],
      ] as const) {
        expect(outcome.http.text).toContain(`"code":${code}`);
      }
      // JSON-RPC 0.2 has no method for the extended card.
      for (const method of ["tasks/none", "agent/getCard"]) {
        expect(JSON.parse((await post({ jsonrpc: "2.0", id: 1, method })).text).error.code).toBe(-32601);
      }
    });
  });

  it("0.2 MUST: a stream has status 200 and text/event-stream; each event is a complete response, the last one is final", async () => {
    const message = {
      messageId: "m",
      role: "user",
      parts: [{ kind: "text", text: done().parts[0]?.text }],
    };
    const answer = await post({ jsonrpc: "2.0", id: "s", method: "message/stream", params: { message } });
    expect([answer.status, typeOf(answer)]).toEqual([200, "text/event-stream"]);
    const bodies = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    expect(bodies.length).toBeGreaterThan(2);
    for (const body of bodies) expect(body).toMatchObject({ jsonrpc: "2.0", id: "s", result: expect.any(Object) });
    expect(bodies.map(({ result }) => result.final === true)).toEqual(bodies.map((body) => body === bodies.at(-1)));
  });

  it("0.2 MUST: objects have a kind", async () => {
    const opening = textToRun(async (task) => {
      await task.artifact("a").end([{ text: "t" }, { data: { d: 1 } }, { raw: "aGk=" }]);
      await task.ask("?");
    });
    const { http } = await caller().send(text(opening), { wait: true });
    expect(jsonOf<{ readonly result: object }>(http).result).toMatchObject({
      kind: "task",
      status: { message: { kind: "message" } },
      history: [{ kind: "message", role: "user" }, {}],
      artifacts: [{ parts: [{ kind: "text" }, { kind: "data" }, { kind: "file" }] }],
    });
  });

  it("0.2 MUST: a finished task never restarts, and messages to it fail", async () => {
    let runs = 0;
    const opening = textToRun(async () => {
      runs += 1;
      return "over";
    });
    const { id } = await taskOf(caller().send(text(opening), { wait: true }));
    expect(await refusalOf(caller().send({ ...text(opening), taskId: id }))).toBe("UnsupportedOperation");
    expect(await refusalOf(caller().stream({ ...text(opening), taskId: id }))).toBe("UnsupportedOperation");
    expect([runs, outputOf(await accepted(caller().get(id)))]).toEqual([1, "over"]);
  });

  it("0.2 MUST: the public card omits the extended details, which authenticated callers get by GET", async () => {
    expect((await readCard("/agents/discreet")).text).not.toContain("secret");
    expect(await refusalOf(caller("discreet").extendedCard())).toBe("Unauthenticated");
    const card = await accepted(caller("discreet", { token: "alice" }).extendedCard());
    checkCard("0.2", card);
    expect(card).toMatchObject({ skills: [{ id: "secret" }] });
  });
});
