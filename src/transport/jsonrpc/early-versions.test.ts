import { expect, it } from "vitest";
import type { CallRecord } from "../options.ts";
import { allFrames, describeFaces, framesOf, type Loose, type Site, testAgent } from "../test/faces.ts";

type Call = readonly [method: string, params: object];

interface Post {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

/** Posts a call that names no version, as clients of the early versions do. */
function post(site: Site, [method, params]: Call, { path = "/", headers }: Post = {}): Promise<Response> {
  return site.request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: "r", method, params }),
  });
}

async function answer(site: Site, call: Call, options?: Post): Promise<Loose> {
  return (await post(site, call, options)).json();
}

function saying(text: string, id = "mine"): object {
  return { id, message: { role: "user", parts: [{ type: "text", text }] } };
}

const EVENTS_ONLY = { accept: "text/event-stream" };

describeFaces("Clients of 0.1", (open) => {
  it.each(["/subscribe", "/subscribe/", "/agents/echo/subscribe"])("get named events at %s", async (path) => {
    const site = await open();
    const response = await post(site, ["tasks/sendSubscribe", saying("hello")], { path, headers: EVENTS_ONLY });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const frames = await allFrames(response);
    expect(frames.map(({ event, id }) => [event, id])).toEqual([
      ["status", "0"],
      ["status", "1"],
      ["artifact", "2"],
      ["status", "3"],
    ]);
    for (const { data } of frames) expect(data).toMatchObject({ jsonrpc: "2.0", id: "r", result: { id: "mine" } });
    expect(frames.map(({ data }) => data?.result.final)).toEqual([false, false, undefined, true]);
    const again = await allFrames(await post(site, ["tasks/resubscribe", { id: "mine" }], { path }));
    expect(again.map(({ event }) => event)).toEqual(["artifact", "status"]);
  });

  it.each(["/", "/a2a", "/api/a2a", "/agents/echo/a2a"])("get events without names at %s", async (path) => {
    const site = await open();
    const frames = await allFrames(await post(site, ["tasks/sendSubscribe", saying("hello")], { path }));
    expect(frames).toHaveLength(4);
    for (const frame of frames) expect(frame).not.toHaveProperty("event");
  });

  it("resume a broken stream by the task id they chose, and start nothing twice", async () => {
    const site = await open();
    const frames = framesOf(await post(site, ["tasks/sendSubscribe", saying("hang")]));
    expect((await frames.next()).value).toMatchObject({ id: "0" });
    expect((await frames.next()).value).toMatchObject({ id: "1" });
    await frames.return();
    const resumed = framesOf(
      await post(site, ["tasks/sendSubscribe", saying("hang")], { headers: { "last-event-id": "1" } }),
    );
    await resumed.next();
    site.engine.chunk(site.engine.latest, "done");
    expect((await resumed.next()).value).toMatchObject({ id: "2", data: { result: { artifact: { index: 0 } } } });
    await resumed.return();
    expect(site.engine.submissions).toHaveLength(1);
    const unknown = await answer(site, ["tasks/sendSubscribe", saying("hang", "other")], {
      headers: { "last-event-id": "1" },
    });
    expect(unknown.error.code).toBe(-32001);
    expect(site.engine.submissions).toHaveLength(1);
  });

  it("are recorded by a short name", async () => {
    const records: CallRecord[] = [];
    const site = await open({ hooks: { on: { call: (record) => void records.push(record) } } });
    await answer(site, ["tasks/send", saying("hello")]);
    await answer(site, ["tasks/get", { id: "mine" }]);
    await answer(site, ["tasks/get", { id: "mine" }], { headers: { "a2a-version": "0.1" } });
    await answer(site, ["tasks/get", { id: "mine" }], { headers: { "a2a-version": "0.2" } });
    await site.ask("GET /a2a/tasks/mine");
    expect(records.map(({ dialect, operation, error }) => [dialect, operation, error])).toEqual([
      ["0.1/jsonrpc", "send", undefined],
      ["0.1+0.3/jsonrpc", "get", undefined],
      ["0.1/jsonrpc", "get", undefined],
      ["0.2/jsonrpc", "get", undefined],
      ["plain", "get", undefined],
    ]);
  });
});

describeFaces("A get by a client that reads nothing but events", (open) => {
  it.each([{}, { "a2a-version": "0.3" }, { "a2a-version": "0.2" }])("is a subscription, with %j", async (named) => {
    const site = await open();
    await answer(site, [
      "message/send",
      {
        message: { messageId: "1", role: "user", parts: [{ kind: "text", text: "ask" }] },
      },
    ]);
    const id = site.engine.latest;
    for (const params of [{ id }, { taskId: id }]) {
      const response = await post(site, ["tasks/get", params], { headers: { ...EVENTS_ONLY, ...named } });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const frames = framesOf(response);
      expect((await frames.next()).value?.data?.result).toMatchObject({ kind: "task", id });
      site.engine.status(id, "working");
      expect((await frames.next()).value?.data?.result).toMatchObject({ kind: "status-update", taskId: id });
      await frames.return();
    }
    const missing = await post(site, ["tasks/get", { id: "nobody" }], { headers: { ...EVENTS_ONLY, ...named } });
    const [frame] = await allFrames(missing);
    expect(frame).toMatchObject({ event: "error", data: { error: { code: -32001 } } });
  });

  it("is an ordinary get for callers that also accept JSON, in other versions, and in strict mode", async () => {
    const site = await open();
    await site.call("SendMessage", { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "hello" }] } });
    const id = site.engine.latest;
    for (const accept of ["application/json, text/event-stream", "*/*", "text/event-stream;q=0.5, */*", "text/*"]) {
      expect((await answer(site, ["tasks/get", { id }], { headers: { accept } })).result).toMatchObject({ id });
    }
    expect((await site.call("GetTask", { id }, EVENTS_ONLY)).result).toMatchObject({ id });
    const strict = await open({ dialects: { lenient: false } });
    await strict.call("SendMessage", { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "hello" }] } });
    const params = { id: strict.engine.latest };
    expect((await answer(strict, ["tasks/get", params], { headers: EVENTS_ONLY })).result).toMatchObject(params);
  });
});

describeFaces("An error", (open) => {
  it("contains the name of the unknown method", async () => {
    const site = await open();
    const unknown = await answer(site, ["tasks/nothing", {}]);
    expect(unknown.error).toEqual({
      code: -32601,
      message: "Method not found",
      data: { reason: "METHOD_NOT_FOUND", method: "tasks/nothing" },
    });
    expect((await site.call("DoNothing")).error?.data).toEqual([
      expect.objectContaining({ reason: "METHOD_NOT_FOUND", metadata: { method: "DoNothing" } }),
    ]);
    expect((await answer(site, ["x/".repeat(1000), {}])).error.data.method).toHaveLength(64);
  });

  it("of the envelope has the format of the method's version", async () => {
    const site = await open();
    const errorOf = async (body: object): Promise<Loose> =>
      ((await site.ask("POST /", body)) as { readonly error: Loose }).error;
    expect(await errorOf({ id: 1, method: "message/send", params: {} })).toMatchObject({
      code: -32600,
      data: { reason: "INVALID_REQUEST" },
    });
    expect(await errorOf({ id: 1, method: "tasks/send", params: {} })).toMatchObject({
      code: -32600,
      data: { reason: "INVALID_REQUEST" },
    });
    expect(await errorOf({ id: 1, method: "SendMessage", params: {} })).toMatchObject({
      code: -32600,
      data: [{ reason: "INVALID_REQUEST" }],
    });
  });
});

describeFaces("The error at an agent's URL", (open) => {
  it.each(["", "/a2a", "/api/a2a", "/subscribe", "/a2a/"])("for GET %j contains the path of the card", async (path) => {
    const site = await open({ agents: [testAgent(), testAgent({ id: "second", name: "Second" })] });
    for (const place of ["", "/agents/second"]) {
      const response = await site.request(`${place}${path}?x=1`, { headers: { accept: "application/json" } });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      const { error } = (await response.json()) as { readonly error: { readonly message: string } };
      expect(error.message).toBe(
        `This path supports only POST, OPTIONS; the agent's card is at ${place}/.well-known/agent-card.json`,
      );
    }
  });
});
