import { expect, it } from "vitest";
import { A2AError } from "../../protocol/error.ts";
import { allFrames, collect, describeFaces, framesOf, type Loose, testAgent, textMessage } from "../test/faces.ts";

const A2A = "application/a2a+json";
const JSON_TYPE = "application/json";
const earlierMessage = (text: string): object => ({
  message: { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text }] },
});
const protoMessage = (text: string): object => ({
  message: { messageId: "m-1", role: "ROLE_USER", content: [{ text }] },
});

/** What each dialect of REST is like where they differ. */
const DIALECTS = [
  { dialect: "1.0/rest", base: "", message: textMessage, completed: "TASK_STATE_COMPLETED", type: JSON_TYPE },
  { dialect: "0.3/rest-proto", base: "/v1", message: protoMessage, completed: "TASK_STATE_COMPLETED", type: JSON_TYPE },
  { dialect: "0.3/rest-json", base: "/v1", message: earlierMessage, completed: "completed", type: JSON_TYPE },
] as const;

/** What a frame holds: the name of its one member, or in the style with kinds its kind, in the same words. */
function kindOf(frame: Loose): unknown {
  const { kind, result, ...members } = frame ?? {};
  if (kind === undefined) return Object.keys(members).join();
  expect(result).toEqual({ kind, ...members });
  return String(kind).replace(/-u/, "U");
}

describeFaces("REST over HTTP", (open) => {
  it.each(DIALECTS)("answers a send in $dialect with the bare task", async ({ base, message, completed, type }) => {
    const site = await open({ dialects: { blockingDefault: { "0.3/rest-proto": "wait" } } });
    const response = await site.rest(`POST ${base}/message:send`, message("hello"));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    const body: Loose = await response.json();
    const task = body.task ?? body;
    expect(task.id).toBe(site.engine.latest);
    expect(task.status.state).toBe(completed);
  });

  it.each(DIALECTS)("streams in $dialect without any envelope, and closes", async ({ base, message }) => {
    const site = await open();
    const response = await site.rest(`POST ${base}/message:stream`, message("hello"), { accept: "text/event-stream" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const frames = await allFrames(response);
    expect(frames.map(({ id }) => id)).toEqual(["0", "1", "2", "3"]);
    expect(frames.map(({ data }) => kindOf(data))).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    expect(site.handler.openStreams).toBe(0);
  });

  it.each(DIALECTS)("subscribes in $dialect by GET and POST, also from a cursor", async ({ base, message }) => {
    const site = await open();
    await site.rest(`POST ${base}/message:send`, message("ask"));
    const path = `${base}/tasks/${site.engine.latest}:subscribe`;
    for (const method of ["GET", "POST"]) {
      const frames = framesOf(await site.rest(`${method} ${path}`));
      expect(kindOf((await frames.next()).value?.data)).toBe("task");
      await frames.return();
      const resumed = framesOf(await site.rest(`${method} ${path}`, undefined, { "last-event-id": "1" }));
      const [first, second] = [(await resumed.next()).value, (await resumed.next()).value];
      expect([first?.id, kindOf(first?.data)]).toEqual(["1", "task"]);
      expect([second?.id, kindOf(second?.data)]).toEqual(["2", "statusUpdate"]);
      await resumed.return();
    }
    await expect.poll(() => site.handler.openStreams).toBe(0);
  });

  it.each(DIALECTS)(
    "reports in $dialect a failure before the stream opens by the HTTP status",
    async ({ base, message }) => {
      const site = await open();
      site.engine.refusal = new A2AError("unavailable", "Shutting down", { retryAfter: 2.5 });
      const response = await site.rest(`POST ${base}/message:stream`, message("x"), { accept: "text/event-stream" });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("3");
      expect(response.headers.get("content-type")).toBe(JSON_TYPE);
      expect(await response.text()).toContain("UNAVAILABLE");
      const missing = await site.rest(`GET ${base}/tasks/nope:subscribe`, undefined, { accept: "text/event-stream" });
      expect(missing.status).toBe(404);
      expect(await missing.text()).toContain("TASK_NOT_FOUND");
    },
  );

  it.each(DIALECTS)("reports in $dialect a later failure by one last event", async ({ dialect, base, message }) => {
    const site = await open();
    site.engine.onSubscribe = (subscription) => ({
      ...subscription,
      take: (reader) => queueMicrotask(() => reader.failed(new Error("disk 7 burnt"))),
    });
    const frames = await allFrames(await site.rest(`POST ${base}/message:stream`, message("hang")));
    expect(frames).toHaveLength(2);
    expect(frames[1]?.event).toBe("error");
    const expected = dialect.startsWith("1.0") ? { error: { code: 500 } } : { code: -32603 };
    expect(frames[1]?.data).toMatchObject(expected);
    expect(JSON.stringify(frames)).not.toContain("burnt");
  });

  it.each([
    ["GET /tasks/nope", 404, { error: { code: 404, details: [{ reason: "TASK_NOT_FOUND" }] } }],
    ["GET /v1/tasks/nope", 404, { code: -32001, data: { reason: "TASK_NOT_FOUND" } }],
    ["POST /tasks/nope:cancel", 404, { error: { code: 404, details: [{ reason: "TASK_NOT_FOUND" }] } }],
    ["GET /nowhere", 404, { error: { code: 404, status: "UNIMPLEMENTED" } }],
    ["GET /v1/nowhere", 404, { code: -32601 }],
    ["GET /agents/echo/nowhere", 404, { error: { code: 404 } }],
    ["POST /agents/echo/v1/nowhere", 404, { code: -32601 }],
    ["GET /agents/other/tasks", 404, { error: { code: 404 } }],
    ["GET /agents/other/v1/tasks", 404, { code: -32601 }],
    ["GET /message:send", 405, { error: { code: 405, details: [{ reason: "METHOD_NOT_ALLOWED" }] } }],
    ["DELETE /acme/tasks", 405, { error: { code: 405 } }],
    ["PUT /v1/message:send", 405, { code: -32601, data: { reason: "METHOD_NOT_ALLOWED" } }],
    ["GET /", 405, { jsonrpc: "2.0", id: null, error: { code: -32601 } }],
    ["PATCH /a2a", 405, { jsonrpc: "2.0", id: null, error: { code: -32601 } }],
    ["POST /.well-known/agent-card.json", 405, { error: { code: 405 } }],
    ["POST /healthz", 405, { error: { code: 405 } }],
  ])("answers %s with %d in the format of that path", async (line, status, body) => {
    const site = await open();
    const response = await site.rest(line, undefined, { accept: JSON_TYPE });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe(JSON_TYPE);
    expect(response.headers.has("allow")).toBe(status === 405);
    expect(await response.json()).toMatchObject(body);
  });

  it.each([
    [{}, A2A],
    [{ accept: JSON_TYPE }, JSON_TYPE],
    [{ accept: `${JSON_TYPE}, ${A2A};q=0.5` }, JSON_TYPE],
    [{ "content-type": JSON_TYPE }, JSON_TYPE],
    [{ accept: "*/*", "content-type": A2A }, A2A],
    [{ accept: "text/html" }, A2A],
  ])("sends answers and errors to %j as %s", async (headers, type) => {
    const site = await open();
    for (const path of ["/tasks", "/tasks/nope", "/nowhere", "/tasks?pageSize=0", "/tasks/%zz", "/message:send"]) {
      const response = await site.request(path, { headers });
      expect(`${path} ${response.headers.get("content-type")}`).toBe(`${path} ${type}`);
    }
  });

  it("answers with the default media type without Accept and Content-Type, and in 0.3 always with JSON", async () => {
    const site = await open({ dialects: { restMediaType: JSON_TYPE } });
    expect((await site.request("/tasks")).headers.get("content-type")).toBe(JSON_TYPE);
    expect((await site.request("/tasks", { headers: { accept: A2A } })).headers.get("content-type")).toBe(A2A);
    expect((await site.request("/v1/tasks", { headers: { accept: A2A } })).headers.get("content-type")).toBe(JSON_TYPE);
  });

  it.each(["application/json", "application/a2a+json", "Application/JSON; charset=UTF-8", "application/vnd.x+json"])(
    "reads what is sent as %s",
    async (type) => {
      const site = await open();
      expect((await site.rest("POST /message:send", textMessage("x"), { "content-type": type })).status).toBe(200);
      expect((await site.rest("POST /v1/message:send", earlierMessage("x"), { "content-type": type })).status).toBe(
        200,
      );
    },
  );

  it("needs neither body nor content type if the path contains everything", async () => {
    const site = await open();
    for (const base of ["", "/v1"]) {
      await site.rest("POST /message:send", { ...textMessage("hang"), configuration: { returnImmediately: true } });
      const line = `POST ${base}/tasks/${site.engine.latest}:cancel`;
      const response = await site.rest(line, undefined, { "content-type": "text/plain" });
      expect(response.status).toBe(200);
      expect(site.engine.tasks.get(site.engine.latest)?.state).toBe("canceled");
    }
  });

  it("finds tasks by percent-encoded ids with any characters", async () => {
    const site = await open();
    const id = "a/b:cancel?c#d%e ü&=+🙂";
    for (const path of [`/tasks/${encodeURIComponent(id)}`, `/acme/tasks/${encodeURIComponent(id)}/`]) {
      const { error } = await site.ask(`GET ${path}`);
      expect(error).toMatchObject({ code: 404, details: [{ reason: "TASK_NOT_FOUND", metadata: { taskId: id } }] });
    }
    const { data } = await site.ask(`POST /v1/tasks/${encodeURIComponent(id)}:cancel`);
    expect(data).toMatchObject({ reason: "TASK_NOT_FOUND", taskId: id });
  });

  it("keeps the tenants of paths apart", async () => {
    const site = await open();
    await site.rest("POST /acme%20eu/message:send", textMessage("x"));
    const id = site.engine.latest;
    expect(site.engine.submissions[0]?.scope.tenant).toBe("acme eu");
    expect((await site.rest(`GET /acme%20eu/tasks/${id}`)).status).toBe(200);
    expect((await site.rest(`GET /tasks/${id}?tenant=acme+eu`)).status).toBe(200);
    expect((await site.rest(`GET /acme/tasks/${id}`)).status).toBe(404);
    expect((await site.rest(`GET /tasks/${id}`)).status).toBe(404);
    expect((await site.rest(`GET /v1/tasks/${id}`)).status).toBe(404);
    expect((await site.ask("GET /acme%20eu/tasks")).totalSize).toBe(1);
    expect((await site.ask("GET /tasks")).totalSize).toBe(0);
  });

  it("serves every family for every agent", async () => {
    const site = await open({ agents: [testAgent(), testAgent({ id: "second" })] });
    for (const [path, message] of [
      ["/message:send", textMessage("x")],
      ["/acme/message:send/", textMessage("x")],
      ["/v1/message:send", earlierMessage("x")],
      ["/v1/message:send", protoMessage("x")],
    ] as const) {
      expect((await site.rest(`POST ${path}`, message)).status).toBe(200);
      expect(site.engine.submissions.at(-1)?.scope.agent).toBe("echo");
      expect((await site.rest(`POST /agents/second${path}`, message)).status).toBe(200);
      expect(site.engine.submissions.at(-1)?.scope.agent).toBe("second");
    }
    expect(site.engine.submissions.map(({ call }) => call.dialect)).toEqual(
      ["1.0/rest", "1.0/rest", "0.3/rest-json", "0.3/rest-proto"].flatMap((dialect) => [dialect, dialect]),
    );
  });

  it.each([
    { publicUrl: "https://h.example/base", path: "/base/message:send", dialect: "1.0/rest", tenant: "" },
    { publicUrl: "https://h.example/base/", path: "/base/v1/message:send", dialect: "0.3/rest-proto", tenant: "" },
    { publicUrl: "https://h.example/base", path: "/base/acme/message:send", dialect: "1.0/rest", tenant: "acme" },
    { publicUrl: "https://h.example/v1", path: "/v1/message:send", dialect: "1.0/rest", tenant: "" },
    { publicUrl: "https://h.example/v1", path: "/v1/v1/message:send", dialect: "0.3/rest-proto", tenant: "" },
    {
      publicUrl: "https://h.example/v1",
      path: "/v1/agents/echo/v1/message:send",
      dialect: "0.3/rest-proto",
      tenant: "",
    },
    { publicUrl: "https://h.example", path: "/base/message:send", dialect: "1.0/rest", tenant: "base" },
  ])("of $publicUrl routes $path to $dialect", async ({ publicUrl, path, dialect, tenant }) => {
    for (const given of [publicUrl, () => publicUrl]) {
      const site = await open({ publicUrl: given });
      await site.rest(`POST ${path}`, dialect === "1.0/rest" ? textMessage("x") : protoMessage("x"));
      expect(site.engine.submissions[0]).toMatchObject({ call: { dialect }, scope: { tenant } });
    }
  });

  it("answers HEAD like GET, and leaves no stream open", async () => {
    const site = await open();
    await site.rest("POST /message:send", { ...textMessage("hang"), configuration: { returnImmediately: true } });
    const id = site.engine.latest;
    const task = await site.rest(`HEAD /tasks/${id}`);
    expect(task.status).toBe(200);
    expect(await task.text()).toBe("");
    expect((await site.rest("HEAD /tasks/nope")).status).toBe(404);
    const stream = await site.rest(`HEAD /tasks/${id}:subscribe`);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(await stream.text()).toBe("");
    expect(site.handler.openStreams).toBe(0);
  });

  it.each([
    ["/tasks", "99.0", { error: { code: 400, details: [{ reason: "VERSION_NOT_SUPPORTED" }] } }],
    ["/v1/tasks", "99.0", { error: { code: 400, details: [{ reason: "VERSION_NOT_SUPPORTED" }] } }],
    ["/v1/tasks", "1.0", { error: { code: 404, details: [{ reason: "METHOD_NOT_FOUND" }] } }],
  ])("refuses at %s version %s in the format of the version of that path", async (path, version, body) => {
    const site = await open();
    expect(await site.ask(`GET ${path}`, undefined, { "a2a-version": version })).toMatchObject(body);
    expect(await site.ask(`GET ${path}?A2A-Version=${version}`)).toMatchObject(body);
    expect(await site.ask(`GET ${path}?a2a-version=${version}`)).toMatchObject(body);
    const send = path.replace("tasks", "message:send");
    expect(await site.ask(`POST ${send}`, textMessage("x"), { "a2a-version": version })).toMatchObject(body);
    expect(site.engine.submissions).toHaveLength(0);
  });

  it.each([
    ["/tasks", "1.0"],
    ["/tasks", "1.0.1"],
    ["/tasks", "0.3"],
    ["/tasks", ""],
    ["/v1/tasks", "0.3"],
    ["/v1/tasks", "0.3.0"],
    ["/v1/tasks", ""],
  ])("serves %s to version %j", async (path, version) => {
    const site = await open();
    expect((await site.rest(`GET ${path}`, undefined, { "a2a-version": version })).status).toBe(200);
  });

  it("activates extensions by either header and lists them in the header of the version", async () => {
    const extensions = [{ uri: "urn:a", required: true }, { uri: "urn:b" }];
    const site = await open({ definition: { extensions } });
    for (const header of ["a2a-extensions", "x-a2a-extensions"]) {
      const latest = await site.rest("POST /message:send", textMessage("x"), { [header]: "urn:c, urn:b,urn:a" });
      expect(latest.headers.get("a2a-extensions")).toBe("urn:b, urn:a");
      expect(latest.headers.has("x-a2a-extensions")).toBe(false);
      const stream = await site.rest("POST /v1/message:stream", earlierMessage("x"), { [header]: "urn:a" });
      expect(stream.headers.get("x-a2a-extensions")).toBe("urn:a");
      expect(stream.headers.has("a2a-extensions")).toBe(false);
      await allFrames(stream);
    }
    const both = { "a2a-extensions": "urn:b", "x-a2a-extensions": "urn:a, urn:b" };
    const answer = await site.rest("POST /message:send", textMessage("x"), both);
    expect(answer.headers.get("a2a-extensions")).toBe("urn:b, urn:a");
    const refused = await site.rest("POST /message:send", textMessage("x"), { "a2a-extensions": "urn:b" });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { details: [{ reason: "EXTENSION_SUPPORT_REQUIRED" }] } });
  });

  it("authenticates before it reads more than the path", async () => {
    const site = await open({
      authenticate: () => {
        throw new Error("secret");
      },
    });
    for (const line of ["GET /tasks", "GET /tasks/%zz", "POST /message:send", "GET /tasks?A2A-Version=99"]) {
      const response = await site.rest(line);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toMatchObject({ error: { code: 401, status: "UNAUTHENTICATED" } });
    }
    expect((await site.rest("POST /v1/message:send", "wrong")).status).toBe(401);
  });

  it("reports every call to the call hook with dialect and operation", async () => {
    const records: object[] = [];
    const site = await open({ hooks: { on: { call: (record) => void records.push(record) } } });
    await site.rest("POST /message:send", textMessage("x"));
    await allFrames(await site.rest("POST /v1/message:stream", earlierMessage("x")));
    await site.rest("GET /v1/tasks/nope");
    await site.rest("POST /message:send", {});
    await site.rest("POST /tasks/%zz:cancel");
    await site.rest("GET /nowhere");
    expect(records).toMatchObject([
      { dialect: "1.0/rest", operation: "send" },
      { dialect: "0.3/rest-json", operation: "stream" },
      { dialect: "0.3/rest-proto", operation: "get", error: "task-not-found" },
      { dialect: "1.0/rest", operation: "send", error: "invalid-params" },
      { dialect: "1.0/rest", operation: "cancel", error: "invalid-params" },
    ]);
  });

  it("refuses a body over the limit while reading it, in the format of the path", async () => {
    const site = await open({ limits: { maxBodyBytes: 1000 } });
    const large = { message: "x".repeat(2000) };
    const latest = await site.rest("POST /message:send", large);
    expect(latest.status).toBe(413);
    expect(await latest.json()).toMatchObject({ error: { code: 413, details: [{ reason: "PAYLOAD_TOO_LARGE" }] } });
    const earlier = await site.rest("POST /v1/message:send", large);
    expect(earlier.status).toBe(413);
    expect(await earlier.json()).toMatchObject({ code: -32058 });
  });

  it("shows the same events to readers of every dialect", async () => {
    const site = await open();
    await site.rest("POST /message:send", { ...textMessage("hang"), configuration: { returnImmediately: true } });
    const id = site.engine.latest;
    const streams = await Promise.all([
      site.rest(`GET /tasks/${id}:subscribe`),
      site.rest(`POST /v1/tasks/${id}:subscribe`),
      site.post("tasks/resubscribe", { id }, { "a2a-version": "0.3" }),
    ]);
    site.engine.chunk(id, "one");
    site.engine.status(id, "completed");
    const frames = await Promise.all(streams.map((stream) => collect(framesOf(stream))));
    for (const each of frames) expect(each.map((frame) => frame.id)).toEqual(["1", "2", "3"]);
  });
});
