import { expect, it } from "vitest";
import { at, streamed, textAt } from "../exchange.ts";
import { agentMessage, artifactUpdate, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const message = userMessage("Write it down");

/** The events of a stream with a status and an artifact. */
async function streamedEvents(): Promise<readonly unknown[]> {
  await using testServer = await serveScript(async (task) => {
    await task.status("Writing");
    await task.artifact("result.txt").end("Content...");
  });
  return resultsOf(await streamed(testServer.url, rpcRequest(1, "message/stream", { message })), 1);
}

it(seed.example("Task Event", "a stream opens with the new task: its message, and no artifacts"), async () => {
  const [opening] = await streamedEvents();
  const ids = idsOf(opening);
  expect(opening).toEqual({
    kind: "task",
    id: ids.taskId,
    contextId: ids.contextId,
    status: { state: "submitted", timestamp: TIME },
    history: [{ ...message, ...ids }],
  });
});

it(
  seed.example(
    "Status Update Event",
    "the message is present only if the agent sent one; final is true only on the last",
  ),
  async () => {
    const results = await streamedEvents();
    const ids = idsOf(results[0]);
    const updates = results.filter((result) => at(result, "kind") === "status-update");
    expect(updates).toEqual([
      statusUpdate(ids, "working"),
      statusUpdate(ids, "working", { message: agentMessage(ids, "Writing") }),
      statusUpdate(ids, "completed", { final: true }),
    ]);
  },
);

it(seed.example("Artifact Update Event", "a whole artifact is marked as last and not as append"), async () => {
  const results = await streamedEvents();
  expect(results.filter((result) => at(result, "kind") === "artifact-update")).toEqual([
    artifactUpdate(
      idsOf(results[0]),
      { artifactId: ID, name: "result.txt", parts: [textPart("Content...")] },
      { lastChunk: true },
    ),
  ]);
});

it(seed.example("Direct Message Event", "a message is the only event of its stream"), async () => {
  await using testServer = await serveScript(async () => "never", { reply: () => "At once" });
  const request = rpcRequest(1, "message/stream", { message: userMessage("Hello", { contextId: "ctx-456" }) });
  const results = resultsOf(await streamed(testServer.url, request), 1);
  expect(results).toEqual([
    { kind: "message", messageId: ID, role: "agent", parts: [textPart("At once")], contextId: "ctx-456" },
  ]);
  expect(textAt(results[0], "messageId")).not.toBe("");
});
