import { expect, it } from "vitest";
import { at, openStream, post, streamed, textAt } from "../exchange.ts";
import { artifactUpdate, expectKindFirst, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

const QUESTION = "Analyze sales data and generate report";

/** An agent that answers in the three chunks of the examples. */
const analyst = (pieces: readonly string[]): Promise<TestServer> =>
  serveScript(async (task) => {
    const artifact = task.artifact("art-1");
    for (const piece of pieces.slice(0, -1)) await artifact.write(piece);
    await artifact.end(pieces.at(-1));
  });

/** The results of that agent's stream. */
async function analysis(...pieces: readonly string[]): Promise<readonly unknown[]> {
  await using testServer = await analyst(pieces);
  const request = rpcRequest(1, "message/stream", { message: userMessage(QUESTION, { messageId: "msg-123" }) });
  return resultsOf(await streamed(`${testServer.url}/api/a2a`, request), 1);
}

it(
  seed.example(
    "Request Format (message/stream)",
    "it is accepted at /api/a2a; its modes and trace reach the agent, and a credential in the message has no effect",
  ),
  async () => {
    let modes: readonly string[] | undefined;
    await using testServer = await serveScript(async (task) => {
      modes = task.outputModes;
      return { done: true };
    });
    const stream = await openStream(
      `${testServer.url}/api/a2a`,
      rpcRequest(1, "message/stream", {
        message: userMessage(QUESTION, { messageId: "msg-123" }),
        configuration: { acceptedOutputModes: ["application/json", "text/plain"], historyLength: 10 },
      }),
      {
        authorization: "Bearer token",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
    );
    const results = resultsOf(await stream.rest(), 1);
    expect(modes).toEqual(["application/json", "text/plain"]);
    expect(at(results[0], "history.0.messageId")).toBe("msg-123");
    expect(at(results.at(-1), "metadata.traceId")).toBe("0af7651916cd43dd8448eb211c80319c");
  },
);

it(
  seed.example(
    "Response Format (SSE Stream)",
    "six events, each a whole JSON-RPC response: task, working, three chunks of one artifact, completed",
  ),
  async () => {
    await using testServer = await analyst(["Analysis: ", "Sales increased", ", by 15%"]);
    const message = userMessage(QUESTION, { messageId: "msg-123" });
    const stream = await openStream(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message }));
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get("cache-control")).toBe("no-cache");
    expect(stream.response.headers.get("connection")).toBe("keep-alive");
    const results = resultsOf(await stream.rest(), 1);
    const ids = idsOf(results[0]);
    const artifactId = textAt(results[2], "artifact.artifactId");
    expect(results).toEqual([
      {
        kind: "task",
        id: ids.taskId,
        contextId: ids.contextId,
        status: { state: "submitted", timestamp: TIME },
        history: [{ ...message, ...ids }],
      },
      statusUpdate(ids, "working"),
      artifactUpdate(ids, { artifactId, name: "art-1", parts: [textPart("Analysis: ")] }),
      artifactUpdate(ids, { artifactId, parts: [textPart("Sales increased")] }, { append: true }),
      artifactUpdate(ids, { artifactId, parts: [textPart(", by 15%")] }, { append: true, lastChunk: true }),
      statusUpdate(ids, "completed", { final: true }),
    ]);
  },
);

it(seed.example("Initial Task Response", "the first event is the whole submitted task"), async () => {
  const [opening] = await analysis("x");
  expect(opening).toMatchObject({
    kind: "task",
    id: ID,
    contextId: ID,
    status: { state: "submitted", timestamp: TIME },
  });
});

it(seed.example("Status Update Events › Working State", "the update says working and is not final"), async () => {
  const results = await analysis("x");
  expect(results[1]).toEqual(statusUpdate(idsOf(results[0]), "working"));
});

it(
  seed.example("Status Update Events › Completed State (Final)", "the last update says completed and is final"),
  async () => {
    const results = await analysis("x");
    expect(results.at(-1)).toEqual(statusUpdate(idsOf(results[0]), "completed", { final: true }));
  },
);

const PIECES = ["Based on ", "the analysis", ", sales increased 15%"] as const;

it(
  seed.example("Artifact Update Events › First Chunk", "the first chunk creates an artifact, without append"),
  async () => {
    const results = await analysis(...PIECES);
    expect(results[2]).toEqual(
      artifactUpdate(idsOf(results[0]), { artifactId: ID, name: "art-1", parts: [textPart("Based on ")] }),
    );
  },
);

it(
  seed.example("Artifact Update Events › Subsequent Chunk (Append)", "the chunk is appended to the same artifact"),
  async () => {
    const results = await analysis(...PIECES);
    const artifactId = textAt(results[2], "artifact.artifactId");
    expect(results[3]).toEqual(
      artifactUpdate(idsOf(results[0]), { artifactId, parts: [textPart("the analysis")] }, { append: true }),
    );
  },
);

it(seed.example("Artifact Update Events › Final Chunk", "the chunk is appended and marked as last"), async () => {
  const results = await analysis(...PIECES);
  const artifactId = textAt(results[2], "artifact.artifactId");
  expect(results[4]).toEqual(
    artifactUpdate(
      idsOf(results[0]),
      { artifactId, parts: [textPart(", sales increased 15%")] },
      { append: true, lastChunk: true },
    ),
  );
});

it(
  seed.example(
    "Error Responses",
    "an unknown task gets -32001 with its id in the data, sent as an event to a caller that accepts only events",
  ),
  async () => {
    await using testServer = await serveScript(async () => "never");
    const error = { code: -32001, message: "Task not found", data: { reason: "TASK_NOT_FOUND", taskId: "task-999" } };
    const resubscribe = rpcRequest(1, "tasks/resubscribe", { id: "task-999" });
    const frames = await streamed(`${testServer.url}/api/a2a`, resubscribe);
    expect(frames.map(({ json }) => json)).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
    expect(errorOf(await post(`${testServer.url}/api/a2a`, resubscribe), 1)).toEqual(error);
    expect(errorOf(await post(`${testServer.url}/api/a2a`, rpcRequest(1, "tasks/get", { id: "task-999" })), 1)).toEqual(
      error,
    );
  },
);

it(
  seed.example(
    "Compliance with A2A v0.3.0 › kind first",
    "`kind` is the first member of every object that has it, in results and in events",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Processing...");
      await task.ask("Which quarter?");
    });
    const send = rpcRequest(1, "message/send", { message: userMessage(QUESTION) });
    expectKindFirst(resultOf(await post(`${testServer.url}/api/a2a`, send), 1));
    const stream = rpcRequest(2, "message/stream", { message: userMessage(QUESTION) });
    const frames = await streamed(`${testServer.url}/api/a2a`, stream);
    expect(frames).toHaveLength(4);
    expectKindFirst(frames.map(({ json }) => json));
  },
);
