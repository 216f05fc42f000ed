import { expect, it } from "vitest";
import { at, openStream, post } from "../exchange.ts";
import { idsOf, userMessage } from "../kinds.ts";
import { printedText } from "../printed/run.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

/** The requests that the seed prints, byte for byte, with the id of an existing task. */

/** Starts a task that waits, in the context of the examples. */
async function begin({ url }: TestServer): Promise<Readonly<Record<string, string>>> {
  const message = userMessage("Begin", { contextId: "ctx-456" });
  return { "task-789": idsOf(resultOf(await post(url, rpcRequest(1, "message/send", { message })), 1)).taskId };
}

it(seed.example("Requests as printed › a task", "the task is answered, read, followed and canceled"), async () => {
  await using testServer = await serveScript(async (task) => `Done: ${await task.ask("What?")}`);
  const { url } = testServer;
  const first = await begin(testServer);
  const sent = resultOf(await post(url, printedText("003-message-send.txt", first)), "req-001");
  expect(sent).toMatchObject({ id: first["task-789"], contextId: "ctx-456", status: { state: "completed" } });
  expect(at(sent, "artifacts.0.parts.0.text")).toBe("Done: Process order #12345");
  expect(resultOf(await post(url, printedText("003-tasks-get.txt", first)), "req-002")).toEqual(sent);
  const frames = await (await openStream(url, printedText("003-tasks-resubscribe.txt", first))).rest();
  expect(frames.map(({ json }) => at(json, "result.status.state"))).toEqual(["completed"]);
  const second = await begin(testServer);
  const set = resultOf(await post(url, printedText("003-push-set.txt", second)), "req-006");
  expect(set).toMatchObject({ success: true, pushNotificationConfig: { url: "https://client.com/webhook" } });
  const canceled = resultOf(await post(url, printedText("003-tasks-cancel.txt", second)), "req-003");
  expect(canceled).toMatchObject({ id: second["task-789"], status: { state: "canceled" } });
});

it(seed.example("Requests as printed › extended card", "an authenticated caller receives the card"), async () => {
  const agent = scripted(async () => "done", { extendedCard: { description: "Does more." } });
  await using testServer = await serveAgents(agent, { authenticate: () => ({ id: "alice", anonymous: false }) });
  const card = resultOf(await post(testServer.url, printedText("003-extended-card.txt")), "req-007");
  expect(card).toMatchObject({ name: "Scripted", description: "Does more." });
});
