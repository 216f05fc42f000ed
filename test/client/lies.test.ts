import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentClient } from "../../src/client/api.ts";
import { type ConnectOptions, connect } from "../../src/client/connect.ts";
import { RemoteError } from "../../src/client/http/errors.ts";
import { textOf } from "../../src/protocol/part.ts";
import {
  type Answer,
  artifact,
  artifactUpdate,
  events,
  frame,
  json,
  rpc,
  ScriptedServer,
  statusUpdate,
  wireTask,
} from "./lying-server.ts";

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const QUICK = { retry: { attempts: 3, reconnects: 3, baseDelay: 1, maxDelay: 20 }, poll: { first: 1, most: 2 } };

async function meet(answer: Answer, options: ConnectOptions = {}): Promise<AgentClient> {
  server = await ScriptedServer.start(answer);
  return connect(server.card(), { ...QUICK, ...options });
}

/** Resolves when the reader accepts more data or has disconnected. */
async function drained(response: ServerResponse): Promise<void> {
  const left = new AbortController();
  await Promise.race([once(response, "drain", left), once(response, "close", left)]).finally(() => left.abort());
}

async function failure(promise: Promise<unknown>): Promise<RemoteError> {
  const thrown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof RemoteError)) throw new Error("Expected a RemoteError.", { cause: thrown });
  return thrown;
}

describe("an agent that sends an unexpected response", () => {
  it.each([
    [200, "invalid-agent-response"],
    [404, "invalid-agent-response"],
    [403, "permission-denied"],
    [500, "internal"],
    [502, "unavailable"],
  ])("such as an HTML page with HTTP %i gives an error with the status and the page's text", async (status, code) => {
    const page = "<html><head><style>b{}</style></head><body><h1>Bad&nbsp;day</h1><p>Try later</p></body></html>";
    const agent = await meet((response) => void response.writeHead(status, { "content-type": "text/html" }).end(page));
    const error = await failure(agent.send("hello"));
    expect(error).toMatchObject({ code, remote: { httpStatus: status, text: page } });
    expect(error.message).toBe(
      `The agent answered with HTTP ${status} and text/html instead of JSON: Bad&nbsp;day Try later`,
    );
  });

  it.each([
    ["no JSON", "oops", "instead of JSON: oops"],
    ["nothing", "", "neither a result nor an error"],
    ["a list", "[]", "neither a result nor an error"],
    ["another request's answer", '{"jsonrpc":"2.0","id":77,"result":{}}', "the id of another request"],
    [
      "a task without an id",
      '{"jsonrpc":"2.0","id":1,"result":{"task":{"status":{"state":"TASK_STATE_WORKING"}}}}',
      "task.id",
    ],
    [
      "an unknown state",
      '{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_DANCING"}}}}',
      "task.status.state",
    ],
  ])("%s is named in the error", async (_, text, words) => {
    const agent = await meet((response) => json(response, text));
    const error = await failure(agent.send("hello"));
    expect(error.code).toBe("invalid-agent-response");
    expect(error.message).toContain(words);
  });

  it("is read whatever its content type is", async () => {
    const agent = await meet((response, request) => {
      const isStream = request.body.method === "SendStreamingMessage";
      response.writeHead(200, { "content-type": isStream ? "application/json" : "text/plain" });
      response.end(
        isStream ? frame(request, { task: wireTask("COMPLETED") }) : rpc(request, { task: wireTask("COMPLETED") }),
      );
    });
    expect(await agent.send("hello")).toMatchObject({ kind: "task", task: { id: "t1" } });
    expect(await agent.stream("hello").result()).toMatchObject({ kind: "task", task: { id: "t1" } });
  });

  it("is read without ids, with any HTTP status, and from the first event of a stream", async () => {
    const agent = await meet((response, _, count) => {
      const result = { task: wireTask("COMPLETED") };
      if (count === 1) return json(response, JSON.stringify({ result }), 202);
      events(response);
      response.write(`data: ${JSON.stringify({ result })}\n\n`);
    });
    expect(await agent.send("hello")).toMatchObject({ task: { id: "t1" } });
    expect(await agent.send("hello")).toMatchObject({ task: { id: "t1" } });
  });

  it("may answer a stream request with a single response or an error", async () => {
    const agent = await meet((response, request, count) => {
      if (count === 1) return json(response, rpc(request, { task: wireTask("COMPLETED") }));
      json(response, `{"jsonrpc":"2.0","id":${request.body.id},"error":{"code":-32602,"message":"No, thanks"}}`);
    });
    expect(await agent.stream("hello").result()).toMatchObject({ task: { id: "t1" } });
    const error = await failure(agent.stream("hello").result());
    expect(error).toMatchObject({
      code: "invalid-params",
      message: "No, thanks",
      remote: { rpcCode: -32602, httpStatus: 200 },
    });
  });

  it("in frames with CRLF, comments, event names and split characters is parsed", async () => {
    const agent = await meet(async (response, request) => {
      events(response);
      const text = [
        ": hello",
        "",
        "event: artifact",
        `data: ${rpc(request, { task: wireTask("WORKING") })}`,
        "",
        `data: ${rpc(request, artifactUpdate("a", "größer 🌊", false))}`,
        "",
        `data: ${rpc(request, statusUpdate("COMPLETED"))}`,
        "",
        "",
      ].join("\r\n");
      const bytes = Buffer.from(text);
      for (let start = 0; start < bytes.length; start += 7) {
        response.write(bytes.subarray(start, start + 7));
        await new Promise(setImmediate);
      }
      response.end();
    });
    const stream = agent.stream("hello");
    expect(await stream.result()).toMatchObject({ task: { status: { state: "completed" } } });
    expect(textOf(stream.task?.artifacts?.[0]?.parts ?? [])).toBe("größer 🌊");
  });
});

describe("an agent that sends too much", () => {
  it("is disconnected in the middle of an event of 100 MB, of which almost nothing is kept in memory", async () => {
    let written = 0;
    const agent = await meet(
      async (response, request) => {
        events(response);
        response.write(frame(request, { task: wireTask("WORKING") }));
        response.write('data: {"jsonrpc":"2.0","result":"');
        const piece = "x".repeat(64 * 1024);
        for (; written < 100 * 1024 * 1024 && !response.destroyed; written += piece.length) {
          if (!response.write(piece)) await drained(response);
        }
        response.end();
      },
      { maxEventLength: 1024 * 1024 },
    );
    const error = await failure(agent.stream("hello").result());
    expect(error.code).toBe("event-too-large");
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it.each([
    ["announced", { "content-length": String(100 * 1024 * 1024) }],
    ["not announced", {}],
  ])("is disconnected in the middle of a response of 100 MB that was %s", async (_, headers) => {
    let written = 0;
    const agent = await meet(
      async (response) => {
        response.writeHead(200, { "content-type": "application/json", ...headers });
        const piece = " ".repeat(64 * 1024);
        for (; written < 100 * 1024 * 1024 && !response.destroyed; written += piece.length) {
          if (!response.write(piece)) await drained(response);
        }
        response.end();
      },
      { maxResponseBytes: 1024 * 1024 },
    );
    expect((await failure(agent.task("t1").get())).code).toBe("response-too-large");
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it("is disconnected after `maxResponseBytes` bytes, although they are fewer characters", async () => {
    const agent = await meet(
      (response, request) => {
        // Two writes: the length is not announced.
        response.write(JSON.stringify(rpc(request, wireTask("COMPLETED"))));
        response.end(" \u00a0".repeat(20_000));
      },
      { maxResponseBytes: 50_000 },
    );
    expect((await failure(agent.task("t1").get())).code).toBe("response-too-large");
  });

  it.each([2, 5])("whose list repeats %i page tokens for ever gives an error", async (count) => {
    let pages = 0;
    const agent = await meet((response, request) => {
      pages += 1;
      json(response, rpc(request, { tasks: [wireTask("COMPLETED")], nextPageToken: `page-${pages % count}` }));
    });
    let read = 0;
    const reading = (async () => {
      for await (const _task of agent.tasks()) {
        read += 1;
        if (read > 100) return;
      }
    })();
    expect((await failure(reading)).code).toBe("invalid-agent-response");
    expect(read).toBeLessThanOrEqual(4 * count);
  });

  it("whose list never ends gives an error", async () => {
    const agent = await meet((response, request) =>
      json(response, rpc(request, { tasks: [wireTask("COMPLETED")], nextPageToken: "again" })),
    );
    const ids: string[] = [];
    const reading = (async () => {
      for await (const { id } of agent.tasks()) ids.push(id);
    })();
    expect((await failure(reading)).code).toBe("invalid-agent-response");
    expect(ids).toHaveLength(2);
    expect(server?.received[1]?.body.params).toMatchObject({ pageToken: "again" });
  });
});

describe("an agent that does not finish its response", () => {
  it.each([
    ["never answers", (): void => {}],
    [
      "never ends its head",
      (response: Parameters<Answer>[0]): void => {
        response.socket?.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => response.socket?.write(`x-${Math.random()}: 1\r\n`), 5);
        response.socket?.on("close", () => clearInterval(timer));
      },
    ],
    [
      "never ends its answer",
      (response: Parameters<Answer>[0]): void => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"jsonrpc":');
      },
    ],
  ])("and %s is disconnected after the timeout", async (_, answer) => {
    const agent = await meet(answer);
    expect((await failure(agent.task("t1").get({ timeout: 100 }))).code).toBe("timeout");
    expect((await failure(agent.send("hello", { timeout: 100 }))).code).toBe("timeout");
    expect((await failure(agent.stream("hello", { timeout: 100 }).result())).code).toBe("timeout");
    expect((await failure(agent.task("t1").wait({ timeout: 100 }))).code).toBe("timeout");
  });

  it("is disconnected when the caller aborts", async () => {
    const agent = await meet(() => {});
    const controller = new AbortController();
    const call = failure(agent.send("hello", { signal: controller.signal }));
    const reason = new Error("changed my mind");
    controller.abort(reason);
    expect(await call).toMatchObject({ code: "aborted", cause: reason });
    expect((await failure(agent.send("hello", { signal: controller.signal }))).code).toBe("aborted");
  });

  it("is disconnected when the caller leaves the stream", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const agent = await meet((response, request) => {
      response.on("close", resolve);
      events(response);
      response.write(frame(request, { task: wireTask("WORKING") }));
    });
    for await (const event of agent.stream("hello")) {
      expect(event.kind).toBe("task");
      break;
    }
    await closed;
  });

  it("and is silent for longer than the idle limit is disconnected", async () => {
    const agent = await meet(
      (response, request, count) => {
        if (request.body.method === "GetTask")
          return json(response, rpc(request, wireTask("COMPLETED", { artifacts: [artifact("a", "all of it")] })));
        events(response);
        response.write(frame(request, { task: wireTask("WORKING") }));
        if (count > 1) response.write(frame(request, statusUpdate("COMPLETED")));
      },
      { idleTimeout: 50 },
    );
    const stream = agent.stream("hello");
    expect(await stream.result()).toMatchObject({ task: { status: { state: "completed" } } });
    expect(textOf(stream.task?.artifacts?.[0]?.parts ?? [])).toBe("all of it");
  });
});
