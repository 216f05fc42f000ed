import { expect, it } from "vitest";
import { at, get, openStream, post, streamed } from "../exchange.ts";
import { expectKindFirst, idsOf, textPart, userMessage } from "../kinds.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const echo = () => serveScript(async (task) => task.message.parts);

const send = (message: object, more: object = {}): object => rpcRequest(1, "message/send", { message, ...more });

it(
  seed.example("Implementation Notes › 2. Content-Type", "a content type other than application/json is refused"),
  async () => {
    await using testServer = await echo();
    const answer = await post(testServer.url, send(userMessage("Hello")), { "content-type": "text/plain" });
    expect(answer.status).toBe(415);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32005 } });
  },
);

it(seed.example("Implementation Notes › 3. Streaming Content-Type", "streams are text/event-stream"), async () => {
  await using testServer = await echo();
  const stream = await openStream(testServer.url, rpcRequest(1, "message/stream", { message: userMessage("Hello") }));
  expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
  expect(await stream.rest()).not.toHaveLength(0);
});

it(
  seed.example("Implementation Notes › 5. Metadata", "the metadata of the message and of the request reach the agent"),
  async () => {
    let seen: unknown;
    await using testServer = await serveScript(async ({ message, metadata }) => {
      seen = { message: message.metadata, request: metadata };
    });
    const task = resultOf(
      await post(
        testServer.url,
        send(userMessage("Hello", { metadata: { mood: "good" } }), { metadata: { urgent: true } }),
      ),
      1,
    );
    expect(seen).toEqual({ message: { mood: "good" }, request: { urgent: true } });
    expect(at(task, "history.0.metadata")).toEqual({ mood: "good" });
  },
);

it(
  seed.example(
    "Implementation Notes › 6. Message Parts",
    "parts are written with `kind`, and read with `kind` or `type`",
  ),
  async () => {
    await using testServer = await echo();
    const parts = [
      { type: "text", text: "Hello" },
      { type: "data", data: { answer: 42 } },
      { type: "file", file: { bytes: "SGVsbG8=", mimeType: "text/plain", name: "hello.txt" } },
    ];
    const task = resultOf(await post(testServer.url, send(userMessage("", { parts }))), 1);
    const written = [
      textPart("Hello"),
      { kind: "data", data: { answer: 42 } },
      { kind: "file", file: { bytes: "SGVsbG8=", mimeType: "text/plain", name: "hello.txt" } },
    ];
    expect(at(task, "history.0.parts")).toEqual(written);
    expect(at(task, "artifacts.0.parts")).toEqual(written);
  },
);

it(
  seed.example("Implementation Notes › 7. State Names", "the state is spelled canceled, in results and in events"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.ask("And?");
    });
    const { taskId: id } = idsOf(resultOf(await post(testServer.url, send(userMessage("Begin"))), 1));
    const stream = await openStream(testServer.url, rpcRequest(2, "tasks/resubscribe", { id }));
    const canceled = resultOf(await post(testServer.url, rpcRequest(3, "tasks/cancel", { id })), 3);
    expect(at(canceled, "status.state")).toBe("canceled");
    expect((await stream.rest()).at(-1)?.json).toMatchObject({
      result: { status: { state: "canceled" }, final: true },
    });
  },
);

it(
  seed.example("Implementation Notes › 8. Required Fields", "`kind` is the first member of every result"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.ask("And?");
    });
    const sent = resultOf(await post(testServer.url, send(userMessage("Begin"))), 1);
    const { taskId: id } = idsOf(sent);
    const got = resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id })), 2);
    const canceled = resultOf(await post(testServer.url, rpcRequest(3, "tasks/cancel", { id })), 3);
    const frames = await streamed(testServer.url, rpcRequest(4, "tasks/resubscribe", { id }));
    const results = [sent, got, canceled, ...frames.map(({ json }) => at(json, "result"))];
    expect(results.map((result) => at(result, "kind"))).toEqual(["task", "task", "task", "task"]);
    expectKindFirst(results);
  },
);

it(
  seed.example("Optional Methods › capabilities", "an undeclared capability is refused; the required methods work"),
  async () => {
    await using testServer = await serveScript(async (task) => task.ask("And?"), {
      capabilities: { streaming: false, pushNotifications: false },
    });
    const card = await get(`${testServer.url}/.well-known/agent-card.json`, { "a2a-version": "0.3" });
    expect(at(card.json, "capabilities")).toMatchObject({ streaming: false, pushNotifications: false });
    const sent = await post(testServer.url, rpcRequest(1, "message/send", { message: userMessage("Hello") }));
    const id = at(resultOf(sent, 1), "id");
    const pushNotificationConfig = { url: "https://client.com/webhook" };
    for (const [code, method, params] of [
      [-32004, "message/stream", { message: userMessage("Hello") }],
      [-32004, "tasks/resubscribe", { id }],
      [-32003, "tasks/pushNotificationConfig/set", { taskId: id, pushNotificationConfig }],
      [-32007, "agent/authenticatedExtendedCard", undefined],
    ] as const)
      expect(errorOf(await post(testServer.url, rpcRequest(2, method, params)), 2), method).toMatchObject({ code });
    expect(at(resultOf(await post(testServer.url, rpcRequest(3, "tasks/get", { id })), 3), "id")).toBe(id);
    const canceled = await post(testServer.url, rpcRequest(4, "tasks/cancel", { id }));
    expect(at(resultOf(canceled, 4), "status.state")).toBe("canceled");
  },
);
