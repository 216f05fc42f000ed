import { expect, it } from "vitest";
import { A2AError } from "../protocol/error.ts";
import { allFrames, collect, describeFaces, framesOf, testAgent, textMessage } from "./test/faces.ts";

describeFaces("JSON-RPC 1.0 over HTTP", (open) => {
  it("answers a send with the finished task", async () => {
    const site = await open();
    const answer = await site.call("SendMessage", textMessage("hello"));
    expect(answer).toMatchObject({ jsonrpc: "2.0", id: 1 });
    const { task } = answer.result;
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(task.artifacts[0].parts).toEqual([{ text: "hello" }]);
    expect(task.history[0]).toMatchObject({ messageId: "m-1", role: "ROLE_USER", taskId: task.id });
  });

  it("answers a bare reply as a message", async () => {
    const site = await open();
    const answer = await site.call("SendMessage", textMessage("message: hi"));
    expect(Object.keys(answer.result)).toEqual(["message"]);
    expect(answer.result.message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "message: hi" }] });
  });

  it("streams the task first and then its events, each with its seq, and closes at the end", async () => {
    const site = await open();
    const response = await site.post("SendStreamingMessage", textMessage("hello"));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const frames = await allFrames(response);
    expect(frames.map((frame) => frame.id)).toEqual(["0", "1", "2", "3"]);
    expect(frames.map((frame) => Object.keys(frame.data?.result)[0])).toEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(frames.every((frame) => frame.data?.jsonrpc === "2.0" && frame.data.id === 1)).toBe(true);
    expect(frames.at(-1)?.data?.result.statusUpdate).toMatchObject({
      taskId: site.engine.latest,
      status: { state: "TASK_STATE_COMPLETED" },
    });
    expect(site.handler.openStreams).toBe(0);
    expect(site.engine.subscriptions).toBe(0);
  });

  it("streams a bare reply as exactly one frame without id", async () => {
    const site = await open();
    const frames = await allFrames(await site.post("SendStreamingMessage", textMessage("message: hi")));
    expect(frames).toHaveLength(1);
    expect(frames[0]?.id).toBeUndefined();
    expect(Object.keys(frames[0]?.data?.result)).toEqual(["message"]);
  });

  it("ends a send's stream at input-required and keeps it open at auth-required", async () => {
    const site = await open();
    const asked = await allFrames(await site.post("SendStreamingMessage", textMessage("ask")));
    expect(asked.at(-1)?.data?.result.statusUpdate.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const frames = framesOf(await site.post("SendStreamingMessage", textMessage("auth")));
    for (const _ of ["task", "working", "auth-required"]) await frames.next();
    site.engine.status(site.engine.latest, "working");
    const more = await frames.next();
    expect(more.value?.data?.result.statusUpdate.status.state).toBe("TASK_STATE_WORKING");
    await frames.return();
  });

  it("keeps a subscription open at input-required until the task is finished", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("ask"));
    const id = site.engine.latest;
    const frames = framesOf(await site.post("SubscribeToTask", { id }));
    const first = await frames.next();
    expect(first.value?.id).toBe("2");
    expect(first.value?.data?.result.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    await site.call("SendMessage", textMessage("done", { taskId: id }));
    const rest = await collect(frames);
    expect(rest.map((frame) => frame.id)).toEqual(["3", "4", "5"]);
  });

  it("resumes exactly after Last-Event-ID", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("hello"));
    const id = site.engine.latest;
    const frames = await allFrames(await site.post("SubscribeToTask", { id }, { "last-event-id": "1" }));
    expect(frames.map((frame) => frame.id)).toEqual(["1", "2", "3"]);
    expect(frames[0]?.data?.result.task.status.state).toBe("TASK_STATE_WORKING");
    expect(frames[0]?.data?.result.task).not.toHaveProperty("artifacts");
    expect(frames[0]?.data?.result.task).not.toHaveProperty("history");
  });

  it("refuses to subscribe to a finished task, and to resume one with nothing left", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("hello"));
    const id = site.engine.latest;
    const refused = await site.post("SubscribeToTask", { id });
    expect(refused.status).toBe(200);
    expect(refused.headers.get("content-type")).toBe("application/json");
    expect(await refused.json()).toMatchObject({ error: { code: -32004 } });
    expect((await site.call("SubscribeToTask", { id }, { "last-event-id": "3" })).error?.code).toBe(-32004);
  });

  it.each(["-1", "1.5", "abc", "01", "9999999999999999", "1 2", "١"])(
    "calls the cursor %j malformed",
    async (cursor) => {
      const site = await open();
      await site.call("SendMessage", textMessage("ask"));
      const headers = { "last-event-id": Buffer.from(cursor).toString("latin1") };
      const answer = await site.call("SubscribeToTask", { id: site.engine.latest }, headers);
      expect(answer.error?.code).toBe(-32602);
      expect(answer.error?.data[1].fieldViolations[0].field).toBe("Last-Event-ID");
    },
  );

  it("refuses a cursor beyond the log as invalid", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("hello"));
    const params = { id: site.engine.latest };
    expect((await site.call("SubscribeToTask", params, { "last-event-id": "4" })).error?.code).toBe(-32602);
  });

  it("sends the whole task, marked as resync, after lost events, even of a finished task", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("hello"));
    const id = site.engine.latest;
    const task = site.engine.tasks.get(id);
    if (task !== undefined) task.firstSeq = 3;
    const frames = await allFrames(await site.post("SubscribeToTask", { id }, { "last-event-id": "1" }));
    expect(frames.map((frame) => frame.id)).toEqual(["3"]);
    expect(frames[0]?.data?.result.task.metadata).toEqual({ "palaver.resync": true });
    expect(frames[0]?.data?.result.task.artifacts).toHaveLength(1);
  });

  it("resumes a repeated streaming send instead of starting another task", async () => {
    const site = await open();
    await allFrames(await site.post("SendStreamingMessage", textMessage("hello")));
    const again = await site.post("SendStreamingMessage", textMessage("hello"), { "last-event-id": "2" });
    const frames = await allFrames(again);
    expect(frames.map((frame) => frame.id)).toEqual(["2", "3"]);
    expect(site.engine.submissions).toHaveLength(1);
  });

  it("answers a repeated plain send with the task of the streaming one", async () => {
    const site = await open();
    await allFrames(await site.post("SendStreamingMessage", textMessage("hello")));
    const answer = await site.call("SendMessage", textMessage("hello"), { "last-event-id": "2" });
    expect(answer.result.task.id).toBe(site.engine.latest);
    expect(site.engine.submissions).toHaveLength(1);
  });

  it.each(["SendMessage", "SendStreamingMessage"])(
    "never starts a run for a %s that resumes nothing",
    async (method) => {
      const site = await open();
      const answer = await site.call(method, textMessage("hello"), { "last-event-id": "2" });
      expect(answer.error?.code).toBe(-32602);
      expect(site.engine.submissions).toHaveLength(0);
    },
  );

  it("closes a resumed send at the question it had been closed at", async () => {
    const site = await open();
    await allFrames(await site.post("SendStreamingMessage", textMessage("ask")));
    const frames = await allFrames(
      await site.post("SendStreamingMessage", textMessage("ask"), { "last-event-id": "2" }),
    );
    expect(frames.map((frame) => frame.id)).toEqual(["2"]);
  });

  it("ends open streams with a retry hint on shutdown and opens no more", async () => {
    const site = await open();
    const frames = framesOf(await site.post("SendStreamingMessage", textMessage("hang")));
    await frames.next();
    await frames.next();
    site.handler.closeStreams();
    expect(await collect(frames)).toEqual([{ retry: "1000" }]);
    const refused = await site.post("SubscribeToTask", { id: site.engine.latest });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
  });

  it("keeps idle streams alive with comments", async () => {
    const site = await open({ heartbeatMs: 5 });
    const frames = framesOf(await site.post("SendStreamingMessage", textMessage("hang")));
    await frames.next();
    await frames.next();
    expect((await frames.next()).value).toEqual({ comment: "" });
    site.engine.status(site.engine.latest, "completed");
    const rest = await collect(frames);
    expect(rest.at(-1)?.id).toBe("2");
  });

  it("reports a failure during a stream by one last error event without internals", async () => {
    const site = await open();
    site.engine.onSubscribe = (subscription) => ({
      ...subscription,
      take: (reader) => queueMicrotask(() => reader.failed(new Error("disk 7 burnt"))),
    });
    const frames = await allFrames(await site.post("SendStreamingMessage", textMessage("hang")));
    expect(frames).toHaveLength(2);
    expect(frames[1]?.event).toBe("error");
    expect(frames[1]?.data).toMatchObject({ id: 1, error: { code: -32603, message: "Internal error" } });
    expect(JSON.stringify(frames)).not.toContain("burnt");
    expect(site.handler.openStreams).toBe(0);
  });

  it("ends only the subscription when the reader disconnects", async () => {
    const site = await open();
    const one = framesOf(await site.post("SendStreamingMessage", textMessage("hang")));
    await one.next();
    const id = site.engine.latest;
    const two = framesOf(await site.post("SubscribeToTask", { id }));
    await two.next();
    expect(site.handler.openStreams).toBe(2);
    await one.return();
    await expect.poll(() => site.handler.openStreams).toBe(1);
    expect(site.engine.subscriptions).toBe(1);
    site.engine.chunk(id, "on");
    expect((await two.next()).value?.data?.result.artifactUpdate.artifact.parts).toEqual([{ text: "on" }]);
    await two.return();
  });

  it("encodes an event once for all its readers", async () => {
    const site = await open();
    await (
      await site.post("SendMessage", { ...textMessage("hang"), configuration: { returnImmediately: true } })
    ).text();
    const id = site.engine.latest;
    const readers = await Promise.all([1, 2, 3].map(async () => framesOf(await site.post("SubscribeToTask", { id }))));
    for (const reader of readers) await reader.next();
    site.engine.chunk(id, "shared");
    const entry = site.engine.tasks.get(id)?.log.at(-1);
    let made = 0;
    const texts = entry?.encoded;
    if (texts !== undefined) {
      const set = texts.set.bind(texts);
      texts.set = (key, value) => {
        made += 1;
        return set(key, value);
      };
    }
    for (const reader of readers) expect((await reader.next()).value?.id).toBe("2");
    expect(made).toBe(1);
    for (const reader of readers) await reader.return();
  });

  it("refuses streams over maxStreams before creating a task", async () => {
    const site = await open({ limits: { maxStreams: 1 } });
    const frames = framesOf(await site.post("SendStreamingMessage", textMessage("hang")));
    await frames.next();
    const answer = await site.call("SendStreamingMessage", textMessage("hang"));
    expect(answer.error?.code).toBe(-32053);
    expect(site.engine.tasks.size).toBe(1);
    await frames.return();
  });

  it("returns immediately if requested, and otherwise waits", async () => {
    const site = await open();
    const params = { ...textMessage("hang"), configuration: { returnImmediately: true } };
    expect((await site.call("SendMessage", params)).result.task.status.state).toBe("TASK_STATE_WORKING");
    const waiting = site.call("SendMessage", textMessage("hang"));
    await expect.poll(() => site.engine.tasks.size).toBe(2);
    site.engine.status(site.engine.latest, "completed");
    expect((await waiting).result.task.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("continues a task, and explains why another cannot be continued", async () => {
    const site = await open();
    const { task } = (await site.call("SendMessage", textMessage("ask"))).result;
    const wrong = await site.call("SendMessage", textMessage("x", { taskId: task.id, contextId: "other" }));
    expect(wrong.error?.code).toBe(-32602);
    const right = await site.call("SendMessage", textMessage("x", { taskId: task.id, contextId: task.contextId }));
    expect(right.result.task.id).toBe(task.id);
    expect((await site.call("SendMessage", textMessage("x", { taskId: task.id }))).error?.code).toBe(-32004);
    expect((await site.call("SendMessage", textMessage("x", { taskId: "nope" }))).error?.code).toBe(-32001);
  });

  it("returns a task with the requested history length", async () => {
    const site = await open();
    await site.call("SendMessage", textMessage("ask"));
    const id = site.engine.latest;
    await site.call("SendMessage", textMessage("more", { taskId: id, messageId: "m-2" }));
    expect((await site.call("GetTask", { id })).result.history).toHaveLength(2);
    expect((await site.call("GetTask", { id, historyLength: 1 })).result.history[0].messageId).toBe("m-2");
    expect((await site.call("GetTask", { id, historyLength: 0 })).result).not.toHaveProperty("history");
    expect((await site.call("GetTask", { id: "nope" })).error).toMatchObject({
      code: -32001,
      data: [{ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org", metadata: { taskId: "nope" } }],
    });
  });

  it("lists all pages, with artifacts only if requested", async () => {
    const site = await open();
    for (const text of ["a", "b", "c", "hang", "ask"]) {
      await site.call("SendMessage", { ...textMessage(text), configuration: { returnImmediately: true } });
    }
    const seen: string[] = [];
    let pageToken = "";
    for (let page = 0; page < 3; page++) {
      const { result } = await site.call("ListTasks", { pageSize: 2, pageToken });
      expect(result).toMatchObject({ pageSize: 2, totalSize: 5 });
      for (const task of result.tasks) {
        expect(task).not.toHaveProperty("artifacts");
        seen.push(task.status.timestamp);
      }
      pageToken = result.nextPageToken;
    }
    expect(pageToken).toBe("");
    expect(seen).toEqual(seen.toSorted().reverse());
    expect(new Set(seen).size).toBe(5);
    const filtered = (await site.call("ListTasks", { status: "TASK_STATE_WORKING", includeArtifacts: true })).result;
    expect(filtered).toMatchObject({ totalSize: 1, nextPageToken: "", pageSize: 50 });
    expect(filtered.tasks[0].artifacts).toEqual([]);
    const since = (await site.call("ListTasks", { statusTimestampAfter: seen[1] })).result;
    expect(since.totalSize).toBe(2);
    const none = (await site.call("ListTasks", { contextId: "nowhere" })).result;
    expect(none).toEqual({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
  });

  it("cancels, repeats a cancel, and refuses to cancel a finished task", async () => {
    const site = await open();
    await site.call("SendMessage", { ...textMessage("hang"), configuration: { returnImmediately: true } });
    const id = site.engine.latest;
    expect((await site.call("CancelTask", { id })).result.status.state).toBe("TASK_STATE_CANCELED");
    expect((await site.call("CancelTask", { id })).result.status.state).toBe("TASK_STATE_CANCELED");
    await site.call("SendMessage", textMessage("done"));
    expect((await site.call("CancelTask", { id: site.engine.latest })).error?.code).toBe(-32002);
    expect((await site.call("CancelTask", { id: "nope" })).error?.code).toBe(-32001);
  });

  it("refuses push operations before looking up the task", async () => {
    const site = await open();
    const config = { taskId: "nope", id: "c", url: "https://example.com/hook" };
    for (const method of [
      "CreateTaskPushNotificationConfig",
      "GetTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigs",
      "DeleteTaskPushNotificationConfig",
    ]) {
      expect((await site.call(method, config)).error?.code).toBe(-32003);
    }
    const configuration = { taskPushNotificationConfig: { url: "https://example.com/hook" } };
    expect((await site.call("SendMessage", { ...textMessage("x"), configuration })).error?.code).toBe(-32003);
    expect((await site.call("SendStreamingMessage", { ...textMessage("x"), configuration })).error?.code).toBe(-32003);
    expect(site.engine.tasks.size).toBe(0);
  });

  it("shows the extended card to authenticated callers only", async () => {
    expect((await (await open()).call("GetExtendedAgentCard")).error?.code).toBe(-32004);
    const site = await open({
      definition: { extendedCard: { description: "For friends." } },
      authenticate: ({ headers }) =>
        headers.get("Authorization") === "Bearer ok" ? { id: "ann", anonymous: false } : undefined,
    });
    const refused = await site.post("GetExtendedAgentCard");
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    const { result } = await site.call("GetExtendedAgentCard", undefined, { authorization: "Bearer ok" });
    expect(result).toMatchObject({ name: "Echo", description: "For friends." });
    const card: unknown = await (await site.request("/.well-known/agent-card.json")).json();
    expect(card).toMatchObject({ description: "Says it again.", capabilities: { extendedAgentCard: true } });
  });

  it("refuses to stream if the agent declares no streaming", async () => {
    const site = await open({ definition: { capabilities: { streaming: false } } });
    expect((await site.call("SendStreamingMessage", textMessage("x"))).error?.code).toBe(-32004);
    expect((await site.call("SubscribeToTask", { id: "x" })).error?.code).toBe(-32004);
    expect(site.engine.tasks.size).toBe(0);
  });

  it("keeps callers and tenants apart", async () => {
    const site = await open({
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody", anonymous: false }),
    });
    await site.call("SendMessage", { ...textMessage("a"), tenant: "acme" }, { "x-user": "ann" });
    const id = site.engine.latest;
    expect((await site.call("GetTask", { id, tenant: "acme" }, { "x-user": "ann" })).result.id).toBe(id);
    for (const [params, user] of [
      [{ id }, "ann"],
      [{ id, tenant: "acme" }, "bob"],
    ] as const) {
      expect((await site.call("GetTask", params, { "x-user": user })).error?.code).toBe(-32001);
      expect((await site.call("CancelTask", params, { "x-user": user })).error?.code).toBe(-32001);
      expect((await site.call("SubscribeToTask", params, { "x-user": user })).error?.code).toBe(-32001);
    }
    expect((await site.call("ListTasks", {}, { "x-user": "bob" })).result.totalSize).toBe(0);
  });

  it("answers with an authenticator's A2AError, and hides its other errors", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => warnings.push(message) };
    const site = await open({
      logger,
      authenticate: ({ headers }) => {
        if (headers.get("x-try") === "forbidden") throw new A2AError("permission-denied", "Not you");
        throw new Error("secret database password");
      },
    });
    const forbidden = await site.post("GetTask", { id: "x" }, { "x-try": "forbidden" });
    expect(forbidden.status).toBe(403);
    expect(await forbidden.json()).toMatchObject({ id: 1, error: { code: -32056, message: "Not you" } });
    const broken = await site.post("GetTask", { id: "x" });
    expect(broken.status).toBe(401);
    expect(await broken.text()).not.toContain("secret");
    expect(warnings).toHaveLength(1);
  });

  it("answers 503 with Retry-After while unavailable", async () => {
    const site = await open();
    site.engine.refusal = new A2AError("unavailable", "Shutting down", { retryAfter: 2.5 });
    const response = await site.post("SendMessage", textMessage("x"));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("3");
    expect(await response.json()).toMatchObject({ error: { code: -32057 } });
  });

  it("hides the details of an unexpected failure and logs them", async () => {
    const errors: object[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (_: string, details?: object) => errors.push(details ?? {}),
    };
    const site = await open({ logger });
    site.engine.refusal = new Error("table tasks has no column");
    const response = await site.post("SendMessage", textMessage("x"));
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).not.toContain("column");
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32603, message: "Internal error" } });
    expect(errors).toEqual([expect.objectContaining({ operation: "send", error: site.engine.refusal })]);
  });

  it("calls the call hook after every call, even if the hook fails", async () => {
    const records: object[] = [];
    const site = await open({
      hooks: {
        on: {
          call(record) {
            records.push(record);
            if (records.length === 1) throw new Error("hook");
            return Promise.reject(new Error("hook"));
          },
        },
      },
    });
    await site.call("SendMessage", textMessage("x"), { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` });
    await allFrames(await site.post("SendStreamingMessage", textMessage("x")));
    await site.call("GetTask", { id: "nope" });
    await site.call("Nonsense");
    expect(records).toMatchObject([
      {
        operation: "send",
        agent: "echo",
        dialect: "1.0/jsonrpc",
        trace: { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1 },
        principal: { id: "anonymous" },
      },
      { operation: "stream" },
      { operation: "get", error: "task-not-found" },
      { error: "method-not-found" },
    ]);
    expect(records[0]).not.toHaveProperty("error");
    expect(records[3]).not.toHaveProperty("operation");
  });

  it("activates declared extensions and requires the required ones", async () => {
    const extensions = [{ uri: "urn:a", required: true }, { uri: "urn:b" }];
    const site = await open({ definition: { extensions } });
    const refused = await site.call("SendMessage", textMessage("x"), { "a2a-extensions": "urn:b" });
    expect(refused.error).toMatchObject({ code: -32008, data: [{ metadata: { requiredExtensions: "urn:a" } }] });
    const response = await site.post("SendMessage", textMessage("x"), { "a2a-extensions": "urn:c, urn:b,urn:a" });
    expect(response.headers.get("a2a-extensions")).toBe("urn:b, urn:a");
  });

  it("refuses media types that the agent does not read or produce, without creating a task", async () => {
    const site = await open({ definition: { inputModes: ["text/*"], outputModes: ["image/png"] } });
    const data = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }, { data: {} }] } };
    expect((await site.call("SendMessage", data)).error).toMatchObject({
      code: -32005,
      data: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED", metadata: { field: "message.parts[1]" } }],
    });
    const configuration = { acceptedOutputModes: ["text/plain"] };
    expect((await site.call("SendMessage", { ...textMessage("x"), configuration })).error?.code).toBe(-32005);
    expect(site.engine.tasks.size).toBe(0);
    const accepted = { acceptedOutputModes: ["image/*"] };
    expect(
      (await site.call("SendMessage", { ...textMessage("x"), configuration: accepted })).result.task,
    ).toBeDefined();
  });
});

const earlierMessage = (text: string): object => ({
  message: { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text }] },
});

describeFaces("JSON-RPC 0.3 over HTTP", (open) => {
  it("is recognised by the method name if no version is requested, at every path", async () => {
    const site = await open();
    const headers = { "content-type": "application/json" };
    for (const path of ["/", "/a2a", "/api/a2a/", "/subscribe", "/agents/echo", "/agents/echo/a2a/"]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: "a", method: "message/send", params: earlierMessage("x") });
      const response = await site.request(path, { method: "POST", headers, body });
      expect(await response.json()).toMatchObject({
        id: "a",
        result: { kind: "task", status: { state: "completed" } },
      });
    }
    expect(new Set(site.engine.submissions.map(({ call }) => call.dialect))).toEqual(new Set(["0.3/jsonrpc"]));
  });

  it("streams its own frames and marks the last", async () => {
    const site = await open();
    const frames = await allFrames(await site.post("message/stream", earlierMessage("x"), { "a2a-version": "0.3" }));
    expect(frames.map(({ id }) => id)).toEqual(["0", "1", "2", "3"]);
    expect(frames.map(({ data }) => data.result.kind)).toEqual([
      "task",
      "status-update",
      "artifact-update",
      "status-update",
    ]);
    expect(frames.map(({ data }) => data.result.final)).toEqual([undefined, false, undefined, true]);
  });

  it("sends an error as one event to callers that read only events, unless the HTTP status is an error", async () => {
    const site = await open();
    const onlyEvents = { "a2a-version": "0.3", accept: "text/event-stream" };
    const response = await site.post("tasks/resubscribe", { id: "nope" }, onlyEvents);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await allFrames(response)).toMatchObject([{ event: "error", data: { id: 1, error: { code: -32001 } } }]);
    const plain = await site.post("tasks/resubscribe", { id: "nope" }, { "a2a-version": "0.3" });
    expect(plain.headers.get("content-type")).toBe("application/json");
    expect(await plain.json()).toMatchObject({ error: { code: -32001 } });
    site.handler.closeStreams();
    const closed = await site.post("tasks/resubscribe", { id: "nope" }, onlyEvents);
    expect(closed.status).toBe(503);
    expect(closed.headers.get("content-type")).toBe("application/json");
    expect(closed.headers.get("retry-after")).toBe("1");
  });

  it("names active extensions in its own header", async () => {
    const site = await open({ definition: { extensions: [{ uri: "urn:a" }] } });
    const headers = { "a2a-version": "0.3", "x-a2a-extensions": "urn:a, urn:b" };
    const response = await site.post("message/send", earlierMessage("x"), headers);
    expect(response.headers.get("x-a2a-extensions")).toBe("urn:a");
    expect(response.headers.has("a2a-extensions")).toBe(false);
  });

  it.each([
    [undefined, { error: { code: -32601, data: { reason: "METHOD_NOT_ALLOWED" } } }],
    ["1.0", { error: { code: -32601, data: [{ reason: "METHOD_NOT_ALLOWED" }] } }],
    ["0.3", { error: { code: -32601, data: { reason: "METHOD_NOT_ALLOWED" } } }],
  ])("is the format of the error for a wrong HTTP method to a caller of %s", async (version, body) => {
    const site = await open();
    const response = await site.request("/", { headers: version === undefined ? {} : { "a2a-version": version } });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, ...body });
  });
});

describeFaces("Routes", (open) => {
  it("serves every agent below its id and the first at the root", async () => {
    const agents = [testAgent(), testAgent({ id: "second", name: "Second" })];
    const site = await open({ agents });
    const card = async (path: string): Promise<unknown> =>
      (await site.request(`${path}/.well-known/agent-card.json`)).json();
    expect(await card("")).toMatchObject({ name: "Echo" });
    expect(JSON.stringify(await card(""))).toContain('"http://agents.example/"');
    expect(await card("/agents/echo")).toMatchObject({ name: "Echo" });
    expect(JSON.stringify(await card("/agents/echo"))).toContain('"http://agents.example/agents/echo/"');
    expect(await card("/agents/second")).toMatchObject({ name: "Second" });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: textMessage("x") });
    for (const path of ["/agents/second", "/agents/second/", "/agents/second/a2a"]) {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      expect((await site.request(path, init)).status).toBe(200);
    }
    expect(site.engine.submissions.every(({ scope }) => scope.agent === "second")).toBe(true);
    expect(site.engine.submissions).toHaveLength(3);
    expect((await site.request("/agents/third/.well-known/agent-card.json")).status).toBe(404);
  });

  it.each(["/", "/?x=1", "/a2a", "/a2a/", "/api/a2a", "/api/a2a/", "/subscribe", "/subscribe/"])(
    "takes JSON-RPC at %s",
    async (path) => {
      const site = await open();
      const body = JSON.stringify({ jsonrpc: "2.0", id: "a", method: "SendMessage", params: textMessage("x") });
      const headers = { "content-type": "application/json; charset=utf-8" };
      const response = await site.request(path, { method: "POST", headers, body });
      expect(await response.json()).toMatchObject({ id: "a", result: { task: {} } });
    },
  );

  it("answers unknown paths with 404 and wrong methods with 405, in JSON", async () => {
    const site = await open();
    const missing = await site.request("/nowhere");
    expect(missing.status).toBe(404);
    expect(missing.headers.get("content-type")).toBe("application/a2a+json");
    expect(await missing.json()).toMatchObject({ error: { code: 404 } });
    const wrong = await site.request("/", { method: "PUT", body: "x" });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("POST, OPTIONS");
    const card = await site.request("/.well-known/agent-card.json", { method: "DELETE" });
    expect(card.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    const options = await site.request("/", { method: "OPTIONS" });
    expect(options.status).toBe(204);
    expect(options.headers.get("allow")).toBe("POST, OPTIONS");
  });

  it("answers HEAD like GET without a body", async () => {
    const site = await open();
    const head = await site.request("/.well-known/agent-card.json", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("etag")).not.toBeNull();
    expect(await head.text()).toBe("");
  });

  it("answers liveness and readiness checks", async () => {
    const site = await open();
    expect((await site.request("/healthz")).status).toBe(200);
    expect((await site.request("/readyz")).status).toBe(200);
    site.engine.unready = new Error("disk full at sector 7");
    const response = await site.request("/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("sector");
    expect((await site.request("/healthz")).status).toBe(200);
  });

  it("refuses a body over the limit while reading it", async () => {
    const site = await open({ limits: { maxBodyBytes: 1000 } });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x".repeat(2000) } });
    const declared = await site.request("/", { method: "POST", headers, body });
    expect(declared.status).toBe(413);
    expect(await declared.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32058 } });
    const chunks = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 4; n++) controller.enqueue(new TextEncoder().encode("x".repeat(400)));
        controller.close();
      },
    });
    const init = { method: "POST", headers, body: chunks, duplex: "half" as const };
    expect((await site.request("/", init)).status).toBe(413);
    expect((await site.request("/", { method: "POST", headers, body: '{"jsonrpc":"2.0"}' })).status).toBe(200);
  });
});
