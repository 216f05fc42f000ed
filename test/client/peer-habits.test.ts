import { afterEach, describe, expect, it } from "vitest";
import type { RemoteStream } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { RemoteError } from "../../src/client/http/errors.ts";
import { textOf } from "../../src/protocol/part.ts";
import { type Answer, events, json, rpc, rpcError, ScriptedServer } from "./lying-server.ts";

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const QUICK = { retry: { attempts: 2, reconnects: 3, baseDelay: 1, maxDelay: 20 }, poll: { first: 1, most: 2 } };

/** A task in the format of 0.2 and 0.3. */
function task0_3(state: string, more: object = {}): object {
  return { kind: "task", id: "t1", contextId: "c1", status: { state, timestamp: "2030-01-01T00:00:00Z" }, ...more };
}

function status0_3(state: string, final: boolean, text = ""): object {
  const message = { kind: "message", messageId: `m-${text}`, role: "agent", parts: [{ kind: "text", text }] };
  return {
    ...{ kind: "status-update", taskId: "t1", contextId: "c1", final },
    status: { state, timestamp: "2030-01-01T00:00:01Z", ...(text !== "" && { message }) },
  };
}

async function states(stream: RemoteStream): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of stream) {
    if (event.kind === "status") seen.push(`${event.status.state} ${textOf(event.status.message?.parts ?? [])}`.trim());
  }
  return seen;
}

describe("0.2", () => {
  it.each(["0.2", "0.2.6"])(
    "sends acceptedOutputModes, which %s requires, also if the caller gives none",
    async (version) => {
      server = await ScriptedServer.start((response, request) => json(response, rpc(request, task0_3("completed"))));
      const agent = await connect(server.card({}, { protocolVersion: version }), QUICK);
      await agent.send("go");
      expect(server.received[0]?.body.params?.["configuration"]).toMatchObject({ acceptedOutputModes: [] });
    },
  );
});

describe("input-required with final: false in a stream of 0.3", () => {
  it("does not end the stream: more events follow", async () => {
    server = await ScriptedServer.start((response, request) => {
      events(response);
      const frames = [
        task0_3("submitted"),
        status0_3("input-required", false, "May I?"),
        status0_3("working", false, "I may."),
        status0_3("input-required", true, "What next?"),
      ];
      response.end(frames.map((result) => `data: ${rpc(request, result)}\n\n`).join(""));
    });
    const agent = await connect(server.card({}, { protocolVersion: "0.3.0" }), QUICK);
    expect(await states(agent.stream("go"))).toEqual([
      "input-required May I?",
      "working I may.",
      "input-required What next?",
    ]);
    expect(server.received).toHaveLength(1);
  });

  it("is the question if the server ends the stream after it", async () => {
    server = await ScriptedServer.start((response, request, count) => {
      events(response);
      const last = count === 1 ? status0_3("input-required", false, "Who?") : status0_3("completed", true);
      response.end([task0_3("working"), last].map((result) => `data: ${rpc(request, result)}\n\n`).join(""));
    });
    const agent = await connect(server.card({}, { protocolVersion: "0.3.0" }), QUICK);
    const seen = await states(agent.stream("go", { onInput: () => "Ada" }));
    expect(seen.filter((state) => state !== "working")).toEqual(["input-required Who?", "completed"]);
    expect(server.received).toHaveLength(2);
  });
});

describe("a card that says 0.1.0", () => {
  it("of a server that supports only the methods of 0.2 and later is called with 0.2", async () => {
    const later: Answer = (response, request) => {
      if (request.url.endsWith("agent-card.json")) {
        const { url = "" } = server ?? {};
        return json(
          response,
          JSON.stringify({
            name: "Bee",
            description: "",
            version: "1",
            url,
            protocolVersion: "0.1.0",
            capabilities: { streaming: true },
            skills: [],
          }),
        );
      }
      if (request.body.method === "message/send") return json(response, rpc(request, task0_3("completed")));
      if (request.body.method !== "message/stream")
        return json(response, rpcError(request, -32601, "Method not found"));
      events(response);
      response.end(`data: ${rpc(request, status0_3("completed", true))}\n\n`);
    };
    server = await ScriptedServer.start(later);
    const agent = await connect(server.url, { ...QUICK, cache: false });
    expect(await agent.send("go")).toMatchObject({ task: { status: { state: "completed" } } });
    expect(await states(agent.stream("go"))).toEqual(["completed"]);
    expect(agent.interface.protocolVersion).toBe("0.2");
    const methods = server.received.flatMap(({ body }) => body.method ?? []);
    expect(methods).toEqual(["tasks/send", "message/send", "message/stream"]);
  });
});

describe("a stream with U+001E", () => {
  it.each([
    ["before the field's name", "\u001edata: "],
    ["before the data", "data: \u001e"],
  ])("%s is parsed without that character", async (_, before) => {
    server = await ScriptedServer.start((response, request) => {
      events(response);
      const frames = [task0_3("working"), status0_3("completed", true)];
      response.end(frames.map((result) => `${before}${rpc(request, result)}\n\n`).join(""));
    });
    const agent = await connect(server.card({}, { protocolVersion: "0.3.0" }), QUICK);
    expect(await states(agent.stream("go"))).toEqual(["completed"]);
  });
});

describe("a list", () => {
  it.each([
    ["HTML", "text/html", "<!DOCTYPE html><pre>Cannot GET /v1/tasks</pre>"],
    ["JSON", "application/json", '{"detail":"Not Found"}'],
  ])("that is answered with a 404 in %s is an unsupported operation", async (_, type, body) => {
    server = await ScriptedServer.start((response) => {
      response.writeHead(404, { "content-type": type }).end(body);
    });
    const agent = await connect(server.card({}, { protocolVersion: "0.3.0", binding: "HTTP+JSON" }), QUICK);
    const thrown = await agent.taskPage().catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(RemoteError);
    expect(thrown).toMatchObject({ code: "unsupported-operation", remote: { httpStatus: 404 } });
  });
});
