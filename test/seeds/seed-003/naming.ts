import { expect, it } from "vitest";
import { accepted, taskOf, text } from "../../conformance/dialect-client.ts";
import { grpc0_3 } from "../../conformance/dialect-clients/v0-3-grpc.ts";
import { kindsOf } from "../../conformance/fold.ts";
import { at, get, post, streamed, textAt } from "../exchange.ts";
import { idsOf, userMessage } from "../kinds.ts";
import { resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

/** By default REST answers a request without a body in proto JSON; these tests use the objects of JSON-RPC. */
const JSON_STYLE = { restStyle: "json" } as const;

const WANTS_0_3 = { "a2a-version": "0.3" };

const asker = (): Promise<TestServer> => serveScript(async (task) => task.ask("And?"), {}, JSON_STYLE);

/** Starts a task that waits for input. */
async function beginTask(testServer: TestServer): Promise<string> {
  const answer = await post(testServer.url, rpcRequest(1, "message/send", { message: userMessage("Begin") }));
  return idsOf(resultOf(answer, 1)).taskId;
}

/** The value without ids and timestamps. */
function shapeOf(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) => (VARYING.includes(name) ? "…" : member)),
  ) as unknown;
}

const mirrored = (event: unknown): unknown => ({ ...(event as object), result: event });

const VARYING = ["id", "taskId", "contextId", "messageId", "requestId", "timestamp"];

it(
  seed.example(
    "Method Naming Across Transports › message/send",
    "POST /v1/message:send returns the same task, without an envelope",
  ),
  async () => {
    await using testServer = await asker();
    const message = userMessage("Begin");
    const rpc = resultOf(await post(testServer.url, rpcRequest(1, "message/send", { message })), 1);
    const rest = await post(`${testServer.url}/v1/message:send`, { message });
    expect(rest.status).toBe(200);
    expect(shapeOf(rest.json)).toEqual(shapeOf(rpc));
  },
);

it(
  seed.example(
    "Method Naming Across Transports › message/stream",
    "POST /v1/message:stream sends the same events, bare and as `result`",
  ),
  async () => {
    await using testServer = await asker();
    const message = userMessage("Begin");
    const rpc = resultsOf(await streamed(testServer.url, rpcRequest(1, "message/stream", { message })), 1);
    const rest = await streamed(`${testServer.url}/v1/message:stream`, { message });
    expect(rpc).toHaveLength(3);
    expect(rest.map(({ json }) => shapeOf(json))).toEqual(rpc.map((result) => mirrored(shapeOf(result))));
  },
);

it(
  seed.example(
    "Method Naming Across Transports › tasks/get",
    "GET /v1/tasks/{id} returns the same task, without an envelope",
  ),
  async () => {
    await using testServer = await asker();
    const id = await beginTask(testServer);
    const rpc = resultOf(await post(testServer.url, rpcRequest(1, "tasks/get", { id })), 1);
    const rest = await get(`${testServer.url}/v1/tasks/${id}`, WANTS_0_3);
    expect([rest.status, rest.json]).toEqual([200, rpc]);
  },
);

it(
  seed.example(
    "Method Naming Across Transports › tasks/cancel",
    "POST /v1/tasks/{id}:cancel returns the canceled task, without an envelope",
  ),
  async () => {
    await using testServer = await asker();
    const id = await beginTask(testServer);
    const rest = await post(`${testServer.url}/v1/tasks/${id}:cancel`, "", WANTS_0_3);
    const rpc = resultOf(await post(testServer.url, rpcRequest(1, "tasks/get", { id })), 1);
    expect([rest.status, rest.json]).toEqual([200, rpc]);
    expect(textAt(rpc, "status.state")).toBe("canceled");
  },
);

it(
  seed.example(
    "Method Naming Across Transports › tasks/resubscribe",
    "POST /v1/tasks/{id}:subscribe sends the same stream, each event bare and as `result`",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done", {}, JSON_STYLE);
    const id = await beginTask(testServer);
    const rpc = resultsOf(await streamed(testServer.url, rpcRequest(1, "tasks/resubscribe", { id })), 1);
    const rest = await streamed(`${testServer.url}/v1/tasks/${id}:subscribe`, "", WANTS_0_3);
    expect(rest.map(({ json }) => json)).toEqual(rpc.map(mirrored));
    expect(rpc.map((task) => at(task, "status.state"))).toEqual(["completed"]);
  },
);

it(
  seed.example(
    "Method Naming Across Transports › one task over REST",
    "a task created with `kind` is read, followed and canceled with `kind`, although those requests have no body",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => task.ask("And?"));
    const sent = await post(`${testServer.url}/v1/message:send`, { message: userMessage("Begin") });
    const path = `${testServer.url}/v1/tasks/${textAt(sent.json, "id")}`;
    expect((await get(path)).json).toEqual(sent.json);
    for (const method of ["GET", "POST"]) {
      const response = await fetch(`${path}:subscribe`, { method, headers: { accept: "text/event-stream" } });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      expect((await reader?.read())?.value).toContain('data: {"kind":"task",');
      await reader?.cancel();
    }
    const missing = await get(`${testServer.url}/v1/tasks/none`);
    expect([missing.status, at(missing.json, "error.message")]).toEqual([404, "Task not found"]);
    const canceled = await post(`${path}:cancel`, "");
    expect(canceled.json).toMatchObject({ kind: "task", status: { state: "canceled" } });
  },
);

it(
  seed.example(
    "Method Naming Across Transports › another client's task",
    "a task created in proto JSON stays in proto JSON, even if the default for requests without a body is `kind`",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done", {}, JSON_STYLE);
    const message = { messageId: "m-1", role: "ROLE_USER", content: [{ text: "Begin" }] };
    const configuration = { blocking: true };
    const sent = await post(`${testServer.url}/v1/message:send`, { message, configuration });
    const id = textAt(sent.json, "task.id");
    const task = await get(`${testServer.url}/v1/tasks/${id}`);
    expect(at(task.json, "status.state")).toBe("TASK_STATE_COMPLETED");
  },
);

it(
  seed.example(
    "Method Naming Across Transports › gRPC",
    "SendMessage, SendStreamingMessage, GetTask, CancelTask and TaskSubscription work on the tasks of the other transports",
  ),
  async () => {
    await using testServer = await asker();
    const caller = grpc0_3.at(testServer.url);
    const { id } = await taskOf(caller.send(text("Begin"), { wait: true }));
    expect(textAt(resultOf(await post(testServer.url, rpcRequest(1, "tasks/get", { id })), 1), "status.state")).toBe(
      "input-required",
    );
    const stream = await accepted(caller.stream(text("Begin")));
    expect(kindsOf(await stream.rest())).toEqual(["task", "status", "status"]);
    const other = await beginTask(testServer);
    expect((await accepted(caller.get(other))).status.state).toBe("input-required");
    const followed = await accepted(caller.subscribe(other));
    expect((await accepted(caller.cancel(other))).status.state).toBe("canceled");
    expect(kindsOf(await followed.rest())).toEqual(["task", "status"]);
  },
);
