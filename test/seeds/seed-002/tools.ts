import { expect, it } from "vitest";
import { at, openStream, post, streamed, textAt } from "../exchange.ts";
import { agentMessage, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { ID } from "../matchers.ts";
import { fetchFrom, runPrinted } from "../printed/run.ts";
import { resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

const PROMPT = "Please provide your API key";

/** An agent that asks for a secret and answers with its length. */
const keeper = (): Promise<TestServer> =>
  serveScript(async (task) => {
    const key = await task.ask(PROMPT, { sensitive: true });
    return `${key.length} characters`;
  });

/** A message with the requested input that identifies the task only by a reference. */
function toolResult(taskId: string, { toolUseId, result }: { toolUseId: string; result: unknown }): object {
  return {
    kind: "message",
    role: "user",
    parts: [textPart("Here is the requested input:"), { kind: "tool-result", toolUseId, result }],
    messageId: crypto.randomUUID(),
    referenceTaskIds: [taskId],
  };
}

it(
  seed.example(
    "Client Tool Invocation › input-required",
    "the question is the last event of the stream; its input request is in the message and in its metadata",
  ),
  async () => {
    await using testServer = await keeper();
    const request = rpcRequest(1, "message/stream", { message: userMessage("Fetch my invoices") });
    const results = resultsOf(await streamed(`${testServer.url}/api/a2a`, request), 1);
    const ids = idsOf(results[0]);
    const inputRequest = { kind: "input-request", prompt: PROMPT, requestId: ID, sensitive: true };
    const message = agentMessage(ids, PROMPT, { metadata: { inputRequest, sensitive: true }, inputRequest });
    expect(results.at(-1)).toEqual(statusUpdate(ids, "input-required", { message, final: true }));
  },
);

it(
  seed.example(
    "Client Tool Invocation › tool-result",
    "a result with only a reference to the task continues the waiting task; a secret is never returned",
  ),
  async () => {
    await using testServer = await keeper();
    const url = `${testServer.url}/api/a2a`;
    const asked = await streamed(url, rpcRequest(1, "message/stream", { message: userMessage("Fetch my invoices") }));
    const ids = idsOf(at(asked[0]?.json, "result"));
    const toolUseId = textAt(asked.at(-1)?.json, "result.status.message.metadata.inputRequest.requestId");
    const message = toolResult(ids.taskId, { toolUseId, result: { value: "secret-key-123" } });
    const frames = await streamed(url, rpcRequest(3, "message/stream", { message }));
    const results = resultsOf(frames, 3);
    expect(idsOf(results[0])).toEqual(ids);
    expect(results.at(-1)).toEqual(statusUpdate(ids, "completed", { final: true }));
    const task = await post(url, rpcRequest(4, "tasks/get", { id: ids.taskId }));
    expect(at(resultOf(task, 4), "artifacts.0.parts")).toEqual([textPart("14 characters")]);
    for (const text of [...frames.map(({ data }) => data), task.text]) expect(text).not.toContain("secret-key-123");
  },
);

it(
  seed.example(
    "Client Tool Invocation › Implementation Example",
    "the printed program finds the question, and its result becomes the answer to an untyped question",
  ),
  async () => {
    await using testServer = await keeper();
    const url = `${testServer.url}/api/a2a`;
    const stream = await openStream(
      url,
      rpcRequest(1, "message/stream", { message: userMessage("Fetch my invoices") }),
    );
    const asked = (await stream.rest()).at(-1)?.json;
    const requests: unknown[] = [];
    const scope = {
      fetch: fetchFrom(testServer.url),
      generateId: () => crypto.randomUUID(),
      executeClientTool: async (request: unknown) => {
        requests.push(request);
        return { value: "secret-key-123" };
      },
    };
    const { handleInputRequired } = runPrinted<{ handleInputRequired(event: unknown): Promise<void> }>(
      "002-implementation-example.txt",
      { names: ["handleInputRequired"], scope },
    );
    await handleInputRequired(asked);
    expect(requests).toEqual([
      {
        kind: "input-request",
        prompt: PROMPT,
        sensitive: true,
        requestId: at(asked, "result.status.message.metadata.inputRequest.requestId"),
      },
    ]);
    const id = at(asked, "result.taskId");
    const done = await openStream(url, rpcRequest(2, "tasks/resubscribe", { id }));
    await done.rest();
    const task = await post(url, rpcRequest(3, "tasks/get", { id }));
    expect(at(task.json, "result.artifacts.0.parts.0.text")).toBe("14 characters");
  },
);

it(
  seed.example(
    "Client Tool Invocation › a named tool",
    "a client that runs the requested tool and sends the result completes the task",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      const hits = await task.ask("Search for it, please", { tool: { name: "search", input: { query: task.text } } });
      return `The client found ${hits}`;
    });
    const url = `${testServer.url}/api/a2a`;
    const tools: Readonly<Record<string, (input: unknown) => unknown>> = {
      search: (input) => ({ of: at(input, "query"), hits: 3 }),
    };
    const handleInputRequired = async (event: unknown): Promise<readonly unknown[]> => {
      const inputRequest = at(event, "status.message.metadata.inputRequest");
      const use = at(event, "status.message.parts.1");
      expect(use).toEqual({
        kind: "data",
        data: { toolUseId: textAt(inputRequest, "requestId"), name: "search", input: { query: "whales" } },
        metadata: { kind: "tool-use" },
      });
      const result = tools[textAt(use, "data.name")]?.(at(use, "data.input"));
      const answer = toolResult(textAt(event, "taskId"), { toolUseId: textAt(inputRequest, "requestId"), result });
      return resultsOf(await streamed(url, rpcRequest(3, "message/stream", { message: answer })), 3);
    };
    const stream = await openStream(url, rpcRequest(1, "message/stream", { message: userMessage("whales") }));
    const frames = await stream.until((data) => at(data, "result.status.state") === "input-required");
    const results = await handleInputRequired(at(frames.at(-1)?.json, "result"));
    expect(results.map((result) => at(result, "artifact.parts.0.text"))).toContain(
      'The client found {"of":"whales","hits":3}',
    );
    expect(at(results.at(-1), "status.state")).toBe("completed");
  },
);
