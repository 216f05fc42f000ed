import { afterEach, describe, expect, it } from "vitest";
import type { RemoteStream } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { textOf } from "../../src/protocol/part.ts";
import { type Answer, events, json, rpc, rpcError, ScriptedServer } from "./lying-server.ts";

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const QUICK = { retry: { attempts: 2, reconnects: 3, baseDelay: 1, maxDelay: 20 }, poll: { first: 1, most: 2 } };

async function lines(stream: RemoteStream): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of stream) {
    if (event.kind === "status") seen.push(event.status.state);
    if (event.kind === "artifact") seen.push(textOf(event.artifact.parts));
  }
  return seen;
}

const DONE = { state: "completed", timestamp: "2030-01-01T00:00:02Z" };
const WORKING = {
  state: "working",
  timestamp: "2030-01-01T00:00:01Z",
  message: { role: "agent", parts: [{ type: "text", text: "On it" }] },
};

/** A server like the first of 0.1: JSON-RPC at its address, streams at `/subscribe`, statuses as history. */
function first({ subscribes }: { readonly subscribes: boolean }): Answer {
  return (response, request) => {
    const { method, params = {} } = request.body;
    if (request.url === "/subscribe" && subscribes) {
      if (method !== "tasks/sendSubscribe")
        return json(response, '{"error":"Only tasks/sendSubscribe supported"}', 400);
      const id = params["id"];
      const write = (name: string, result: object): void =>
        void response.write(`event: ${name}\ndata: ${JSON.stringify({ id: request.body.id, result })}\n\n`);
      events(response);
      write("status", { id, status: { state: "submitted", timestamp: "2030-01-01T00:00:00Z" } });
      write("status", { id, status: WORKING });
      write("artifact", { id, artifact: { parts: [{ type: "text", text: "made" }] } });
      write("status", { id, status: DONE, final: true });
      return void response.end();
    }
    if (request.url !== "/")
      return void response.writeHead(404, { "content-type": "text/html" }).end("<pre>Cannot POST</pre>");
    const task = {
      ...{ id: params["id"], sessionId: "s", status: DONE, history: [WORKING, DONE] },
      artifacts: [{ parts: [{ type: "text", text: "made" }] }],
    };
    if (method === "tasks/send" || method === "tasks/get") return json(response, rpc(request, task));
    json(response, rpcError(request, -32601, "Method not found"));
  };
}

describe("a 0.1 server without streaming at its address", () => {
  it("is streamed from at /subscribe", async () => {
    server = await ScriptedServer.start(first({ subscribes: true }));
    const agent = await connect(server.card({}, { protocolVersion: "0.1", url: `${server.url}/` }), QUICK);
    expect(await lines(agent.stream("go"))).toEqual(["submitted", "working", "made", "completed"]);
    expect(await lines(agent.stream("go"))).toEqual(["submitted", "working", "made", "completed"]);
    expect(server.received.map(({ url }) => url)).toEqual(["/", "/subscribe", "/subscribe"]);
  });

  it("receives a send and is polled if it has no /subscribe either; the statuses of its history become messages", async () => {
    server = await ScriptedServer.start(first({ subscribes: false }));
    const agent = await connect(server.card({}, { protocolVersion: "0.1", url: `${server.url}/` }), QUICK);
    const sent = await agent.stream("go").result();
    if (sent.kind !== "task") throw new Error("no task");
    expect(sent.task.status.state).toBe("completed");
    expect(sent.task.history?.map(({ parts }) => textOf(parts))).toEqual(["On it"]);
  });
});

describe("a REST server of 0.3 that accepts only requests with kind", () => {
  it("is called with restStyle: json", async () => {
    server = await ScriptedServer.start((response, { url, body }) => {
      const message = Object((body as { message?: unknown }).message);
      const at = { taskId: "t1", contextId: "c1" };
      expect(url).toBe("/rpc/v1/message:stream");
      events(response);
      const parts: readonly { readonly text: string }[] = message.parts ?? [{ text: "?" }];
      const text = parts.map((part) => part.text).join("");
      const frames = [
        { kind: "task", id: "t1", contextId: "c1", status: { state: "submitted" }, history: [message] },
        {
          kind: "artifact-update",
          ...at,
          artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
          append: false,
        },
        { kind: "status-update", ...at, status: DONE, final: true },
      ];
      response.end(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(""));
    });
    const card = server.card({}, { protocolVersion: "0.3.0", binding: "HTTP+JSON" });
    const agent = await connect(card, { ...QUICK, restStyle: "json" });
    expect(await lines(agent.stream("Hello"))).toEqual(["Hello", "completed"]);
  });
});

describe("a call that times out", () => {
  it.each(["send", "stream", "wait"] as const)("gives an error with the task id, if it is known: %s", async (way) => {
    server = await ScriptedServer.start((response, request) => {
      const task = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING", timestamp: DONE.timestamp } };
      if (request.body.method === "SendMessage") return json(response, rpc(request, { task }));
      if (request.body.method === "GetTask") return json(response, rpc(request, task));
      events(response);
      response.write(`data: ${rpc(request, { task })}\n\n`);
    });
    const agent = await connect(server.card(), QUICK);
    const call = {
      send: () => agent.send("go", { timeout: 200 }),
      stream: () => agent.stream("go", { timeout: 200 }).result(),
      wait: () => agent.task("t1").wait({ timeout: 200 }),
    }[way];
    await expect(call()).rejects.toMatchObject({ code: "timeout", taskId: "t1" });
  });
});
