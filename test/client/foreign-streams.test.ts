import { afterEach, describe, expect, it } from "vitest";
import type { AgentClient, RemoteStream, RemoteStreamEvent } from "../../src/client/api.ts";
import { type ConnectOptions, connect } from "../../src/client/connect.ts";
import { RemoteError } from "../../src/client/http/errors.ts";
import type { Clock } from "../../src/internal/clock.ts";
import type { AgentCard } from "../../src/protocol/card.ts";
import { IDEMPOTENT_SEND } from "../../src/protocol/extensions.ts";
import { textOf } from "../../src/protocol/part.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { PLAIN_BINDING } from "../../src/wire/plain/binding.ts";
import {
  type Answer,
  artifact,
  artifactUpdate,
  cut,
  events,
  frame,
  json,
  rpc,
  rpcError,
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

interface Meeting extends ConnectOptions {
  readonly card?: Partial<AgentCard>;
  readonly at?: Partial<AgentCard["interfaces"][number]>;
}

async function meet(answer: Answer, { card, at, ...options }: Meeting = {}): Promise<AgentClient> {
  server = await ScriptedServer.start(answer);
  return connect(server.card(card, at), { ...QUICK, ...options });
}

async function failure(promise: Promise<unknown>): Promise<RemoteError> {
  const thrown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof RemoteError)) throw new Error("Expected a RemoteError.", { cause: thrown });
  return thrown;
}

/** Summarises the events: chunks as text, replacements with an equals sign, states in brackets. */
async function summariesOf(stream: RemoteStream): Promise<string[]> {
  const words: string[] = [];
  for await (const event of stream) words.push(wordOf(event));
  return words;
}

function wordOf(event: RemoteStreamEvent): string {
  if (event.kind === "message") return `“${textOf(event.message.parts)}”`;
  if (event.kind === "task") return `task[${event.task.status.state}]`;
  if (event.kind === "status") return `[${event.status.state}]`;
  return `${event.append ? "" : "="}${textOf(event.artifact.parts)}`;
}

function methods(): (string | undefined)[] {
  return server?.received.map(({ body }) => body.method) ?? [];
}

/** The ids of the messages that the server received. */
function messageIds(): unknown[] {
  return server?.received.map(({ body }) => Object(body.params?.["message"]).messageId) ?? [];
}

describe("a stream without cursors that is cut", () => {
  it("resumes from a snapshot of the task, and its end is verified with GetTask", async () => {
    const agent = await meet((response, request, count) => {
      const all = { artifacts: [artifact("a", "one ", "two ", "three ", "four ")] };
      if (request.body.method === "GetTask") return json(response, rpc(request, wireTask("COMPLETED", all)));
      events(response);
      if (count === 1) {
        const start = frame(request, { task: wireTask("WORKING") });
        return cut(response, start + frame(request, artifactUpdate("a", "one ", false)));
      }
      const meanwhile = { artifacts: [artifact("a", "one ", "two ")] };
      response.write(frame(request, { task: wireTask("WORKING", meanwhile) }));
      // The server has lost the chunks between the snapshot and this one.
      response.write(frame(request, artifactUpdate("a", "four ")));
      response.end(frame(request, statusUpdate("COMPLETED")));
    });
    const stream = agent.stream("go");
    expect(await summariesOf(stream)).toEqual([
      "task[working]",
      "=one ",
      "two ",
      "four ",
      "=one two three four ",
      "[completed]",
    ]);
    expect(textOf(stream.task?.artifacts?.[0]?.parts ?? [])).toBe("one two three four ");
    expect(methods()).toEqual(["SendStreamingMessage", "SubscribeToTask", "GetTask"]);
  });

  it.each([
    { until: "the missing chunks are stored", texts: ["one ", "two ", "three "], looks: 4 },
    { until: "nothing changes any more", texts: ["one ", "two ", "three ", "three ", "three ", "three "], looks: 6 },
  ])("polls the task after an early end until $until", async ({ texts, looks }) => {
    const written: string[] = [];
    const agent = await meet((response, request, count) => {
      if (request.body.method === "GetTask") {
        const next = texts[written.length];
        written.push(next ?? "");
        const artifacts = [artifact("a", ...new Set(written.filter(Boolean)))];
        return json(response, rpc(request, wireTask(next === undefined ? "COMPLETED" : "WORKING", { artifacts })));
      }
      events(response);
      const start = frame(request, { task: wireTask("WORKING") });
      // The server has lost the chunks in between.
      if (count === 1) return cut(response, start);
      response.end(start + frame(request, statusUpdate("COMPLETED")));
    });
    const stream = agent.stream("go");
    expect(await summariesOf(stream)).toEqual(["task[working]", "=one two three ", "[completed]"]);
    expect(written).toHaveLength(looks);
  });

  it("is resumed as long as every connection delivers something", async () => {
    const agent = await meet((response, request, count) => {
      events(response);
      const texts = Array.from({ length: count - 1 }, (_, index) => `${index} `);
      const task = wireTask(count < 50 ? "WORKING" : "COMPLETED", { artifacts: [artifact("a", ...texts)] });
      // Two out of three connections are cut before the task has arrived.
      const whole = frame(request, { task });
      cut(response, count % 3 === 1 || count === 50 ? whole : whole.slice(0, -5));
    });
    const stream = agent.stream("go");
    expect((await summariesOf(stream)).at(-1)).toBe("[completed]");
    expect(textOf(stream.task?.artifacts?.[0]?.parts ?? [])).toMatch(/^0 1 .*48 $/);
    expect(server?.received).toHaveLength(50);
  });

  it("ends with a final status that carries another task id", async () => {
    const agent = await meet((response, request) => {
      events(response);
      const start = frame(request, { task: wireTask("WORKING") });
      const status = { state: "TASK_STATE_FAILED", timestamp: "2030-01-01T00:00:01.000Z" };
      const end = { taskId: "made up", contextId: "c1", final: true, status };
      response.write(start + frame(request, { statusUpdate: { ...end, final: false } }));
      response.end(frame(request, { statusUpdate: end }));
    });
    const stream = agent.stream("go");
    expect(await summariesOf(stream)).toEqual(["task[working]", "[failed]"]);
    expect(stream.task?.id).toBe("t1");
  });

  it("does not treat event ids as cursors unless the server supports resuming", async () => {
    const agent = await meet((response, request, count) => {
      const all = { artifacts: [artifact("a", "one ", "two ", "three ")] };
      if (request.body.method === "GetTask") return json(response, rpc(request, wireTask("COMPLETED", all)));
      events(response);
      if (count === 1) {
        const start = frame(request, { task: wireTask("WORKING") }, "1700000000001");
        return cut(response, start + frame(request, artifactUpdate("a", "one ", false), "1700000000002"));
      }
      response.write(
        frame(request, { task: wireTask("WORKING", { artifacts: [artifact("a", "one ", "two ")] }) }, "1700000000009"),
      );
      response.write(frame(request, artifactUpdate("a", "three "), "1700000000010"));
      response.end(frame(request, statusUpdate("COMPLETED"), "1700000000011"));
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "=one ", "two ", "three ", "[completed]"]);
    expect(server?.received[1]?.headers["last-event-id"]).toBe("1700000000002");
  });

  it("resumes exactly after the last event if the server supports resuming", async () => {
    const agent = await meet((response, request, count) => {
      events(response);
      if (count === 1) {
        const start = frame(request, { task: wireTask("WORKING") }, "0");
        return cut(response, start + frame(request, artifactUpdate("a", "one ", false), "1"));
      }
      const first = count === 2 ? 1 : 2;
      response.write(frame(request, { task: wireTask("SUBMITTED") }, String(first)));
      if (count === 2) return cut(response, frame(request, artifactUpdate("a", "one "), "2"));
      response.end(frame(request, statusUpdate("COMPLETED"), "3"));
    });
    const stream = agent.stream("go");
    expect(await summariesOf(stream)).toEqual(["task[working]", "=one ", "one ", "[completed]"]);
    expect(methods()).toEqual(["SendStreamingMessage", "SubscribeToTask", "SubscribeToTask"]);
    expect(server?.received.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1", "2"]);
  });

  it("drops a cursor that the server refuses", async () => {
    const agent = await meet((response, request, count) => {
      if (request.body.method === "GetTask") return json(response, rpc(request, wireTask("COMPLETED")));
      if (count === 2) return json(response, rpcError(request, -32602, "Last-Event-ID: unheard of"));
      events(response);
      if (count === 1) return cut(response, frame(request, { task: wireTask("WORKING") }, "x"));
      response.end(frame(request, { task: wireTask("COMPLETED") }));
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "[completed]"]);
    expect(server?.received.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "x", undefined]);
  });

  it("is replaced by polling until the end if the server cannot subscribe", async () => {
    let looks = 0;
    const agent = await meet((response, request, count) => {
      if (request.body.method === "SubscribeToTask")
        return json(response, rpcError(request, -32004, "No subscriptions"));
      if (request.body.method === "GetTask") {
        looks++;
        const texts = ["one ", "two ", "three "].slice(0, looks);
        return json(
          response,
          rpc(request, wireTask(looks < 4 ? "WORKING" : "COMPLETED", { artifacts: [artifact("a", ...texts)] })),
        );
      }
      events(response);
      cut(response, frame(request, { task: wireTask("WORKING") }));
      expect(count).toBe(1);
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "=one ", "two ", "three ", "[completed]"]);
  });

  it("is abandoned after several attempts without a new event; the error contains the last known task", async () => {
    const agent = await meet((response, request, count) => {
      events(response);
      if (count === 1) return cut(response, frame(request, { task: wireTask("WORKING") }));
      response.destroy();
    });
    const stream = agent.stream("go");
    const error = await failure(stream.result());
    expect(error).toMatchObject({ code: "stream-lost", taskId: "t1", cause: { code: "network" } });
    expect(server?.received).toHaveLength(4);
    expect(stream.task).toMatchObject({ id: "t1", status: { state: "working" } });
  });

  it("is not resumed with `reconnects: 0`; a subscription makes its first connection", async () => {
    const agent = await meet(
      (response, request) => {
        events(response);
        cut(response, frame(request, { task: wireTask("WORKING") }));
      },
      { retry: { ...QUICK.retry, reconnects: 0 } },
    );
    const stream = agent.task("t1").subscribe();
    const error = await failure(stream.result());
    expect(error).toMatchObject({ code: "stream-lost", taskId: "t1", cause: { code: "network" } });
    expect(stream.task).toMatchObject({ status: { state: "working" } });
    expect(methods()).toEqual(["SubscribeToTask"]);
  });

  it("is not abandoned because the task is silent for longer than a connection lasts", async () => {
    let time = 0;
    // Waits end at once; only the duration of connections counts.
    const clock: Clock = {
      now: () => time,
      setTimer: (at, callback) => {
        const timer = at === Number.POSITIVE_INFINITY ? undefined : setImmediate(callback);
        return { cancel: () => clearImmediate(timer) };
      },
    };
    const agent = await meet(
      (response, request, count) => {
        events(response);
        time += 60_000;
        if (count < 20) return cut(response, frame(request, { task: wireTask("WORKING") }));
        response.end(frame(request, { task: wireTask("COMPLETED") }));
      },
      { clock },
    );
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "[completed]"]);
    expect(server?.received).toHaveLength(20);
  });

  it("is followed by snapshots if the server sends nothing else", async () => {
    const agent = await meet((response, request, count) => {
      if (request.body.method === "GetTask")
        return json(response, rpc(request, wireTask(count < 8 ? "WORKING" : "FAILED")));
      events(response);
      response.end(frame(request, { task: wireTask("WORKING") }));
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "[failed]"]);
    expect(methods().slice(0, 4)).toEqual(["SendStreamingMessage", "SubscribeToTask", "SubscribeToTask", "GetTask"]);
  });

  it("survives a stream error that is not about the task", async () => {
    const agent = await meet((response, request, count) => {
      events(response);
      const start = frame(request, { task: wireTask(count === 1 ? "WORKING" : "COMPLETED") });
      response.end(count === 1 ? `${start}event: error\ndata: ${rpcError(request, -32057, "Going down")}\n\n` : start);
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "[completed]"]);
  });

  it("is abandoned if the server fails and restarts the stream repeatedly; the error contains the server's message", async () => {
    const agent = await meet((response, request) => {
      events(response);
      const start = frame(request, { task: wireTask("SUBMITTED") }) + frame(request, statusUpdate("WORKING"));
      response.end(`${start}data: ${rpcError(request, -32603, "No such table")}\n\n`);
    });
    expect(await failure(agent.stream("go").result())).toMatchObject({
      code: "stream-lost",
      message: expect.stringContaining("No such table"),
    });
    expect(server?.received).toHaveLength(3);
  });

  it.each([404, 403])(
    "reports the server's first failure if the server then refuses to resume (%i)",
    async (status) => {
      const agent = await meet((response, request, count) => {
        if (count > 1) return void response.writeHead(status).end(rpcError(request, -32001, "Never heard of it"));
        events(response);
        const start = frame(request, { task: wireTask("WORKING") });
        response.end(`${start}data: ${rpcError(request, -32603, "No such table")}\n\n`);
      });
      const error = await failure(agent.stream("go").result());
      expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("No such table") });
      expect(error.message).toContain("Never heard of it");
      expect(error.cause).toBeInstanceOf(RemoteError);
      expect(error.cause).toMatchObject({ code: "task-not-found" });
    },
  );

  it("reports an error that the agent sends in the middle of the stream", async () => {
    const agent = await meet((response, request) => {
      events(response);
      const start = frame(request, { task: wireTask("WORKING") });
      response.end(`${start}data: ${rpcError(request, -32056, "You may not see more")}\n\n`);
    });
    expect(await failure(agent.stream("go").result())).toMatchObject({
      code: "permission-denied",
      message: "You may not see more",
    });
  });

  it("is resumed if the connection ends without a final state", async () => {
    const agent = await meet((response, request, count) => {
      events(response);
      const task = wireTask("WORKING", count === 1 ? {} : { artifacts: [artifact("a", "x")] });
      const state = count === 1 ? "" : frame(request, statusUpdate("FAILED"));
      response.end(frame(request, { task }) + state);
    });
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[working]", "=x", "[failed]"]);
  });
});

describe("a send or stream that is cut before the first byte of the response", () => {
  const breaks: Answer = (response, _, count) => {
    if (count === 1) return void response.destroy();
    events(response);
    response.flushHeaders();
    response.destroy();
  };

  it("is not sent again; the error code is outcome-unknown", async () => {
    const agent = await meet(breaks);
    for (let turn = 1; turn <= 2; turn++) {
      const error = await failure(agent.stream("go").result());
      expect(error.code).toBe("outcome-unknown");
      expect(error.message).toContain("may or may not have received");
      expect(server?.received).toHaveLength(turn);
    }
  });

  it("is not sent again by send either", async () => {
    const agent = await meet(breaks);
    expect((await failure(agent.send("go"))).code).toBe("outcome-unknown");
    expect(server?.received).toHaveLength(1);
  });

  it.each([
    [
      "the card declares idempotent sends",
      { card: { capabilities: { streaming: true, extensions: [{ uri: IDEMPOTENT_SEND }] } } },
    ],
    ["the caller enables it", { resend: true }],
  ])("is sent again with the same message id if %s", async (_, meeting) => {
    const agent = await meet((response, request, count) => {
      if (count <= 2) return breaks(response, request, count);
      events(response);
      response.end(frame(request, { task: wireTask("COMPLETED") }));
    }, meeting);
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[completed]"]);
    expect(new Set(messageIds()).size).toBe(1);
    expect(messageIds()).toHaveLength(3);
  });

  it.each([
    ["0.1", { protocolVersion: "0.1" }],
    ["the plain dialect", { binding: PLAIN_BINDING }],
  ])("is not sent again in %s, which has no message id to recognise it by", async (_, at) => {
    const capabilities = { streaming: true, extensions: [{ uri: IDEMPOTENT_SEND }] };
    const agent = await meet(breaks, { card: { capabilities }, at });
    expect(agent.resendWindow).toBe(0);
    const error = await failure(agent.send("go"));
    expect(error.code).toBe("outcome-unknown");
    expect(error.message).toContain("messages have no ids");
    expect((await failure(agent.stream("go").result())).code).toBe("outcome-unknown");
    expect(server?.received).toHaveLength(2);
  });

  it("has an unknown outcome also if the next connection is refused", async () => {
    const agent = await meet(
      async (response) => {
        response.destroy();
        await server?.close();
        server = undefined;
      },
      { resend: true },
    );
    const error = await failure(agent.stream("go").result());
    expect(error.code).toBe("outcome-unknown");
  });

  it("is sent again only within the agent's idempotency window", async () => {
    const capabilities = { streaming: true, extensions: [{ uri: IDEMPOTENT_SEND, params: { windowSeconds: 60 } }] };
    const clock = new FakeClock();
    const late: Answer = (response) => {
      clock.adjust(clock.now() + 70_000);
      response.destroy();
    };
    const agent = await meet(late, { card: { capabilities }, clock });
    expect(agent.resendWindow).toBe(60_000);
    expect((await failure(agent.send("go"))).code).toBe("outcome-unknown");
    expect((await failure(agent.stream("go").result())).code).toBe("outcome-unknown");
    expect(server?.received).toHaveLength(2);
  });

  it("is sent again if the connection was refused", async () => {
    const agent = await meet(() => {}, { retry: { attempts: 2, baseDelay: 1 } });
    const { url } = server ?? { url: "" };
    await server?.close();
    server = undefined;
    const error = await failure(agent.send("go"));
    expect(error.code).toBe("network");
    expect(error.message).toContain(url);
    expect((await failure(agent.stream("go").result())).code).toBe("network");
  });
});

describe("an agent at capacity", () => {
  it.each([429, 503])("that answers HTTP %i is called again after Retry-After, sends included", async (status) => {
    const agent = await meet((response, request, count) => {
      if (count < 3) return void response.writeHead(status, { "retry-after": "0" }).end("later");
      json(response, rpc(request, { task: wireTask("COMPLETED") }));
    });
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(server?.received).toHaveLength(3);
    expect(new Set(messageIds()).size).toBe(1);
  });

  it("that asks for a longer wait than the limit fails at once", async () => {
    const agent = await meet((response) => void response.writeHead(429, { "retry-after": "3600" }).end());
    expect(await failure(agent.send("go"))).toMatchObject({
      code: "rate-limited",
      remote: { httpStatus: 429, retryAfter: 3600 },
    });
    expect(server?.received).toHaveLength(1);
  });

  it("behind a gateway that timed out is called again only for calls without side effects", async () => {
    const agent = await meet((response, request, count) => {
      if (count === 1) return void response.writeHead(504).end("time-out");
      if (request.body.method === "GetTask" && count === 2) return json(response, rpc(request, wireTask("COMPLETED")));
      response.writeHead(502).end("bad");
    });
    expect((await agent.task("t1").get()).id).toBe("t1");
    expect((await failure(agent.send("go"))).code).toBe("unavailable");
    expect(server?.received).toHaveLength(3);
  });
});

describe("an agent that does not stream", () => {
  const looking = (refusal: Answer): Answer => {
    let looks = 0;
    return (response, request, count) => {
      const { method } = request.body;
      if (method === "SendMessage") return json(response, rpc(request, { task: wireTask("SUBMITTED") }));
      if (method !== "GetTask") return refusal(response, request, count);
      looks++;
      json(
        response,
        rpc(
          request,
          wireTask(looks < 2 ? "SUBMITTED" : "COMPLETED", { artifacts: [artifact("a", "x".repeat(looks))] }),
        ),
      );
    };
  };
  const never: Answer = (_, { body }) => {
    throw new Error(`${body.method} was asked.`);
  };

  it.each([
    ["according to its card", { card: { capabilities: {} } }, never],
    ["according to its error", {}, (response, request) => json(response, rpcError(request, -32004, "No streams"))],
    ['according to "method not found"', {}, (response, request) => json(response, rpcError(request, -32601, "What?"))],
    [
      "according to an error event",
      {},
      (response, request) => {
        events(response);
        response.end(`event: error\ndata: ${rpcError(request, -32004, "No streams")}\n\n`);
      },
    ],
  ] satisfies [string, Meeting, Answer][])("%s receives a send and is polled", async (_, meeting, refusal) => {
    const agent = await meet(looking(refusal), meeting);
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[submitted]", "=x", "x", "[completed]"]);
    const sends = server?.received.filter(({ body }) => body.method === "SendMessage");
    expect(sends?.[0]?.body.params).toMatchObject({ configuration: { returnImmediately: true } });
    // The client remembers it and does not try to stream again.
    const before = methods().filter((method) => method === "SendStreamingMessage").length;
    await agent.stream("again").result();
    expect(methods().filter((method) => method === "SendStreamingMessage")).toHaveLength(before);
  });

  it("is remembered as soon as the agent accepts the message without a stream, not when the task ends", async () => {
    const agent = await meet((response, request) => {
      const { method } = request.body;
      if (method === "SendMessage") return json(response, rpc(request, { task: wireTask("WORKING") }));
      if (method === "GetTask") return json(response, rpc(request, wireTask("WORKING")));
      json(response, rpcError(request, -32004, "No streams"));
    });
    for (const text of ["first", "second"]) {
      // Leaving the loop stops waiting for the task, which never ends.
      for await (const event of agent.stream(text)) {
        expect(wordOf(event)).toBe("task[working]");
        break;
      }
    }
    expect(methods()).toEqual(["SendStreamingMessage", "SendMessage", "SendMessage"]);
  });

  it("is not assumed because the agent refuses one message", async () => {
    const agent = await meet((response, request, count) => {
      if (count === 1) return json(response, rpcError(request, -32004, "The task is finished"));
      events(response);
      response.end(frame(request, { task: wireTask("COMPLETED") }));
    });
    expect((await failure(agent.stream("go").result())).message).toBe("The task is finished");
    expect(await summariesOf(agent.stream("go"))).toEqual(["task[completed]"]);
  });
});

describe("an agent that accepts a reply and then fails to stream", () => {
  it("is followed with a subscription; the reply is not sent again", async () => {
    const agent = await meet((response, request, count) => {
      const { method } = request.body;
      const working = { status: { state: "TASK_STATE_WORKING", timestamp: "2030-01-01T00:00:07.000Z" } };
      if (method === "GetTask") return json(response, rpc(request, wireTask("WORKING", working)));
      if (count === 2) return json(response, rpcError(request, -32004, "Received statusUpdate before initial Task"));
      events(response);
      const asking = statusUpdate("INPUT_REQUIRED", 5);
      if (count === 1)
        return void response.end(frame(request, { task: wireTask("SUBMITTED") }) + frame(request, asking));
      response.end(
        frame(request, { task: wireTask("WORKING", working) }) + frame(request, statusUpdate("COMPLETED", 9)),
      );
    });
    expect(await summariesOf(agent.stream("go", { onInput: () => "answer" }))).toEqual([
      "task[submitted]",
      "[input-required]",
      "[working]",
      "[completed]",
    ]);
    expect(messageIds().filter((id) => id !== undefined)).toHaveLength(2);
  });
});

describe("an agent with a REST interface", () => {
  const at = { binding: "HTTP+JSON", url: "" };

  it.each([404, 405])(
    "may require the other HTTP verb for subscriptions (HTTP %i); the client then uses that verb first",
    async (status) => {
      const agent = await meet(
        (response, { method }) => {
          if (method === "POST") return json(response, JSON.stringify({ detail: "No such thing" }), status);
          events(response);
          response.end(`data: ${JSON.stringify({ task: wireTask("COMPLETED") })}\n\n`);
        },
        { at: { ...at, url: "http://unknown" } },
      );
      const rest = await connect(server?.card({}, { binding: "HTTP+JSON", url: `${server.url}/base/` }) ?? {}, QUICK);
      expect(agent.interface.binding).toBe("HTTP+JSON");
      expect(await summariesOf(rest.task("t1").subscribe())).toEqual(["task[completed]"]);
      expect(await summariesOf(rest.task("t1").subscribe())).toEqual(["task[completed]"]);
      expect(server?.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
        "POST /base/tasks/t1:subscribe",
        "GET /base/tasks/t1:subscribe",
        "GET /base/tasks/t1:subscribe",
      ]);
    },
  );

  it("receives the tenant in the path, the version and the extensions in headers", async () => {
    await meet((response) => json(response, JSON.stringify(wireTask("COMPLETED"))));
    const card = server?.card({}, { binding: "HTTP+JSON", url: server.url, tenant: "acme" }) ?? {};
    const agent = await connect(card, { extensions: ["https://example.com/x", "urn:y"], headers: { "x-own": "1" } });
    await agent.task("t 1").get({ historyLength: 2 });
    expect(server?.received[0]).toMatchObject({
      method: "GET",
      url: "/acme/tasks/t%201?historyLength=2",
      headers: { "a2a-version": "1.0", "a2a-extensions": "https://example.com/x, urn:y", "x-own": "1" },
    });
  });
});

describe("credentials", () => {
  it("are sent with every request, and renewed once after a refusal", async () => {
    const agent = await meet(
      (response, request) => {
        if (request.headers.authorization !== "Bearer fresh")
          return void response.writeHead(401, { "www-authenticate": 'Bearer realm="x"' }).end();
        json(response, rpc(request, { task: wireTask("COMPLETED") }));
      },
      {
        authorize: ({ headers, url }, { challenge, operation }) => {
          url.searchParams.set("key", operation);
          headers.set(
            "authorization",
            challenge?.authenticate === 'Bearer realm="x"' ? "Bearer fresh" : "Bearer stale",
          );
        },
      },
    );
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(server?.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/rpc?key=send", "Bearer stale"],
      ["/rpc?key=send", "Bearer fresh"],
    ]);
  });

  it("that cannot be renewed leave the refusal unchanged", async () => {
    const agent = await meet((response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(), {
      authorize: (_, { challenge }) => challenge === undefined,
    });
    expect(await failure(agent.send("go"))).toMatchObject({
      code: "unauthenticated",
      remote: { httpStatus: 401, authenticate: "Bearer" },
    });
    expect(server?.received).toHaveLength(1);
  });
});

describe("a guard", () => {
  it("checks the target of every redirect", async () => {
    const checked: string[] = [];
    const agent = await meet(
      (response, request) => {
        if (request.url === "/rpc") response.writeHead(307, { location: "/there" }).end();
        else json(response, rpc(request, { task: wireTask("COMPLETED") }));
      },
      { guard: (url) => void checked.push(url.pathname) },
    );
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(checked).toEqual(["/rpc", "/there"]);
  });

  it("refuses a forbidden target", async () => {
    const agent = await meet(
      (response, { url }) => {
        response.writeHead(308, { location: url === "/rpc" ? "/elsewhere" : "/forbidden" }).end();
      },
      {
        guard: ({ pathname }) => {
          if (pathname === "/forbidden") throw new RemoteError("blocked-url", "Not there.");
        },
      },
    );
    expect((await failure(agent.send("go"))).code).toBe("blocked-url");
    expect(server?.received).toHaveLength(2);
  });
});

describe("an agent with several interfaces", () => {
  const answering: Answer = (response, request) => json(response, rpc(request, { task: wireTask("COMPLETED") }));

  it("is called at the next interface if the first refuses connections, and stays there", async () => {
    const gone = await ScriptedServer.start(answering);
    await gone.close();
    server = await ScriptedServer.start(answering);
    const [right] = server.card().interfaces;
    const [wrong] = gone.card().interfaces;
    const card = server.card();
    const agent = await connect({ ...card, interfaces: [wrong, right] }, QUICK);
    expect(agent.interface).toEqual(wrong);
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(agent.interface).toEqual(right);
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(server.received).toHaveLength(2);
  });

  it.each([
    ["the version is not supported", (response, request) => json(response, rpcError(request, -32009, "Not that one"))],
    ["nothing is found", (response) => void response.writeHead(404).end("Not found")],
  ] satisfies [string, Answer][])("is called at the next interface if %s", async (_, refusal) => {
    server = await ScriptedServer.start((response, request) => {
      if (request.url === "/rpc") return refusal(response, request);
      json(response, JSON.stringify({ task: wireTask("COMPLETED") }));
    });
    const [first] = server.card().interfaces;
    const second = { url: `${server.url}/rest`, binding: "HTTP+JSON", protocolVersion: "1.0", tenant: "acme" };
    const agent = await connect({ ...server.card(), interfaces: [first, second] }, QUICK);
    expect(await agent.send("go")).toMatchObject({ task: { id: "t1" } });
    expect(server.received.map(({ url }) => url)).toEqual(["/rpc", "/rest/acme/message:send"]);
  });

  it("is not called at an interface without message ids if messages may be sent again by later calls", async () => {
    const gone = await ScriptedServer.start(answering);
    await gone.close();
    server = await ScriptedServer.start(answering);
    const [wrong] = gone.card().interfaces;
    const [plain] = server.card({}, { url: server.url, binding: PLAIN_BINDING }).interfaces;
    const card = { ...server.card(), interfaces: [wrong, plain] };
    expect((await failure((await connect(card, { ...QUICK, resend: true })).send("go"))).code).toBe("network");
    expect(server.received).toHaveLength(0);
  });

  it("receives a message once if only the first interface has message ids", async () => {
    const later = await ScriptedServer.start((response) => void response.destroy());
    const first = await ScriptedServer.start((response) => {
      response.destroy();
      // The next connection is refused.
      void first.close();
    });
    const [best] = first.card().interfaces;
    const [plain] = later.card({}, { url: later.url, binding: PLAIN_BINDING }).interfaces;
    const capabilities = { extensions: [{ uri: IDEMPOTENT_SEND }] };
    const agent = await connect({ ...first.card({ capabilities }), interfaces: [best, plain] }, QUICK);
    expect(agent.resendWindow).toBeGreaterThan(0);
    // A refused connection now does not show whether the first request arrived.
    expect((await failure(agent.send("go"))).code).toBe("outcome-unknown");
    expect([first.received.length, later.received.length]).toEqual([1, 0]);
    await later.close();
  });

  it("receives a message once if the first interface may have delivered it", async () => {
    server = await ScriptedServer.start((response) => void response.destroy());
    const [first] = server.card().interfaces;
    const second = { url: `${server.url}/rest`, binding: "HTTP+JSON", protocolVersion: "1.0" };
    const agent = await connect({ ...server.card(), interfaces: [first, second] }, QUICK);
    expect((await failure(agent.send("go"))).code).toBe("outcome-unknown");
    expect(server.received).toHaveLength(1);
  });
});
