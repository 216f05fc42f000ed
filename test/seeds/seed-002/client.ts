import { expect, it } from "vitest";
import { at, post, textAt } from "../exchange.ts";
import { saying } from "../kinds.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../stage.ts";
import { seed } from "./seed.ts";

/** As simple as a reader of streams can be: one event a line, and nothing but its data looked at. */
async function* dataLines(response: Response): AsyncGenerator<unknown> {
  // What refuses a stream before it opens is JSON.
  if (response.headers.get("content-type") !== "text/event-stream") throw new Error(await response.text());
  let rest = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
  }
}

const JSON_TYPE = { "content-type": "application/json" };

function postJson(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) });
}

const report = () =>
  serveScript(async (task) => {
    await task.status("Processing...");
    const artifact = task.artifact("report");
    await artifact.write("Hello ");
    await artifact.end(task.text);
  });

it(
  seed.example("Client-Side (TypeScript)", "a client of a few lines reads the stream and tells what happens"),
  async () => {
    await using stage = await report();
    async function* streamMessage(message: object): AsyncGenerator<unknown> {
      const request = rpcRequest(1, "message/stream", { message });
      for await (const data of dataLines(await postJson(`${stage.url}/api/a2a`, request))) {
        if (at(data, "error") !== undefined) throw new Error(textAt(data, "error.message"));
        yield at(data, "result");
      }
    }
    const log: unknown[] = [];
    for await (const event of streamMessage(saying("Hello!", { messageId: "msg-1" }))) {
      if (at(event, "kind") === "status-update") log.push(["Status", at(event, "status.state")]);
      if (at(event, "kind") === "artifact-update") log.push(["Artifact", at(event, "artifact.parts.0.text")]);
    }
    expect(log).toEqual([
      ["Status", "working"],
      ["Status", "working"],
      ["Artifact", "Hello "],
      ["Artifact", "Hello!"],
      ["Status", "completed"],
    ]);
    const refused = streamMessage(saying("", { taskId: "task-999" }));
    await expect(refused.next()).rejects.toThrow("Task not found");
  },
);

it(
  seed.example(
    "Client (TypeScript) › streamMessage",
    "over REST the members of each event say what it is, and the final one is the end",
  ),
  async () => {
    await using stage = await report();
    async function* streamMessage(message: object): AsyncGenerator<readonly [name: string, event: unknown]> {
      const headers = { authorization: "Bearer token-123", accept: "text/event-stream" };
      const response = await postJson(`${stage.url}/v1/message:stream`, { message }, headers);
      for await (const data of dataLines(response)) {
        const [name = "", event] = Object.entries(data as object)[0] ?? [];
        yield [name, event];
        if (at(event, "final") === true) return;
      }
    }
    const log: unknown[] = [];
    for await (const [name, event] of streamMessage(saying("Analyze sales data"))) {
      if (name === "artifactUpdate") log.push(["Artifact chunk", at(event, "artifact.parts.0.text")]);
      else if (name === "statusUpdate") log.push(["Status", at(event, "status.state")]);
      else log.push([name, typeof at(event, "id")]);
    }
    expect(log).toEqual([
      ["task", "string"],
      ["Status", "working"],
      ["Status", "working"],
      ["Artifact chunk", "Hello "],
      ["Artifact chunk", "Analyze sales data"],
      ["Status", "completed"],
    ]);
  },
);

it(seed.example("Client (TypeScript) › sendMessage", "the call is answered with the finished task"), async () => {
  await using stage = await report();
  const id = Date.now();
  const headers = { authorization: "Bearer token-123" };
  const request = rpcRequest(id, "message/send", { message: saying("Quick question") });
  const task = resultOf(await post(`${stage.url}/api/a2a`, request, headers), id);
  expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
  expect(at(task, "artifacts.0.parts.0.text")).toBe("Hello Quick question");
});
