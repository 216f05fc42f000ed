import { A2AError, remoteAgent } from "palaver";
import { connect, RemoteError } from "palaver/client";
import { expect, it } from "vitest";
import { ScriptedServer } from "../../client/lying-server.ts";
import { at, post } from "../exchange.ts";
import { idsOf, userMessage } from "../kinds.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveAgents, serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const send = (message: object, more: object = {}): object => rpcRequest(1, "message/send", { message, ...more });

const done = async () => "done";

it(
  seed.example("8.1. Standard JSON-RPC Errors › -32700", "a body that is not JSON gets this code, without an id"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, {}, options);
      const { json } = await post(testServer.url, "{");
      expect(json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    }
  },
);

it(
  seed.example("8.1. Standard JSON-RPC Errors › -32600", "JSON that is not a request gets this code; so does a batch"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, {}, options);
      expect(errorOf(await post(testServer.url, { jsonrpc: "2.0", id: "x", params: {} }), "x")).toMatchObject({
        code: -32600,
      });
      expect(errorOf(await post(testServer.url, [send(userMessage("Hello"))]), null)).toMatchObject({ code: -32600 });
    }
  },
);

it(
  seed.example("8.1. Standard JSON-RPC Errors › -32601", "an unknown method gets this code, with its name"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, {}, options);
      const error = errorOf(await post(testServer.url, rpcRequest(1, "tasks/foo", {})), 1);
      expect(error).toMatchObject({ code: -32601, data: { method: "tasks/foo" } });
    }
  },
);

it(
  seed.example(
    "8.1. Standard JSON-RPC Errors › -32602",
    "missing or mistyped parameters get this code, with their names",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, {}, options);
      const wrong: Readonly<Record<string, object>> = {
        message: rpcRequest(1, "message/send", {}),
        "message.role": send(userMessage("Hello", { role: "system" })),
        "message.messageId": send(userMessage("Hello", { messageId: 5 })),
        "message.parts[0].text": send(userMessage("", { parts: [{ kind: "text", text: 5 }] })),
        id: rpcRequest(1, "tasks/get", {}),
      };
      for (const [field, request] of Object.entries(wrong)) {
        const error = errorOf(await post(testServer.url, request), 1);
        expect([at(error, "code"), at(error, "data.violations.0.field")]).toEqual([-32602, field]);
      }
    }
  },
);

it(
  seed.example("8.1. Standard JSON-RPC Errors › -32603", "an internal error gets this code, without details"),
  async () => {
    for (const options of EITHER_WAY) {
      const reply = () => {
        throw new Error("password=1234");
      };
      await using testServer = await serveScript(done, { reply }, options);
      const answer = await post(testServer.url, send(userMessage("Hello")));
      expect(errorOf(answer, 1)).toMatchObject({ code: -32603 });
      expect(answer.text).not.toContain("1234");
    }
  },
);

it(seed.example("8.2. A2A-Specific Errors › -32001", "an unknown task gets this code"), async () => {
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(done, {}, options);
    for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
      const error = errorOf(await post(testServer.url, rpcRequest(1, method, { id: "nowhere" })), 1);
      expect(error).toMatchObject({ code: -32001, data: { taskId: "nowhere" } });
    }
  }
});

it(
  seed.example("8.2. A2A-Specific Errors › -32002", "canceling a finished or canceled task gets this code"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(
        async (task) => (task.text === "wait" ? task.ask("And?") : "done"),
        {},
        options,
      );
      const begin = async (text: string) =>
        idsOf(resultOf(await post(testServer.url, send(userMessage(text))), 1)).taskId;
      const cancel = async (id: string) => post(testServer.url, rpcRequest(2, "tasks/cancel", { id }));
      expect(errorOf(await cancel(await begin("go")), 2)).toMatchObject({ code: -32002 });
      const waiting = await begin("wait");
      expect(at(resultOf(await cancel(waiting), 2), "status.state")).toBe("canceled");
      expect(errorOf(await cancel(waiting), 2)).toMatchObject({ code: -32002 });
    }
  },
);

it(
  seed.example(
    "8.2. A2A-Specific Errors › -32003",
    "an agent without notifications refuses a webhook with this code, set separately or with a message",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, { capabilities: { pushNotifications: false } }, options);
      const pushNotificationConfig = { url: "https://client.example.com/webhook/a2a-notifications" };
      const requests = [
        rpcRequest(1, "tasks/pushNotificationConfig/set", { taskId: "any", pushNotificationConfig }),
        send(userMessage("Hello"), { configuration: { pushNotificationConfig } }),
      ];
      for (const request of requests)
        expect(errorOf(await post(testServer.url, request), 1)).toMatchObject({ code: -32003 });
    }
  },
);

it(
  seed.example(
    "8.2. A2A-Specific Errors › -32004",
    "an unsupported operation gets this code, and a message to a finished task",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(done, { capabilities: { streaming: false } }, options);
      const stream = rpcRequest(1, "message/stream", { message: userMessage("Hello") });
      expect(errorOf(await post(testServer.url, stream), 1)).toMatchObject({ code: -32004 });
      const { taskId } = idsOf(resultOf(await post(testServer.url, send(userMessage("Hello"))), 1));
      expect(errorOf(await post(testServer.url, send(userMessage("More", { taskId }))), 1)).toMatchObject({
        code: -32004,
      });
    }
  },
);

it(
  seed.example(
    "8.2. A2A-Specific Errors › -32005",
    "an unsupported input type gets this code, and a request that accepts none of the output types",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const modes = { inputModes: ["text/plain"], outputModes: ["text/plain"] };
      await using testServer = await serveScript(done, modes, options);
      const picture = { kind: "file", file: { mimeType: "image/png", bytes: "iVBORw0KGgo=" } };
      const requests = [
        send(userMessage("", { parts: [picture] })),
        send(userMessage("Hello"), { configuration: { acceptedOutputModes: ["image/png"] } }),
      ];
      for (const request of requests)
        expect(errorOf(await post(testServer.url, request), 1)).toMatchObject({ code: -32005 });
    }
  },
);

it(
  seed.example(
    "8.2. A2A-Specific Errors › -32006",
    "an invalid answer of the agent or of a remote agent gets this code; if a task was created, it fails with the reason",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      // Unchecked cast: authors of JavaScript can return anything.
      const unsendable = { reply: () => 10n as unknown as string };
      await using own = await serveScript(done, unsendable, options);
      expect(errorOf(await post(own.url, send(userMessage("Hello"))), 1)).toMatchObject({ code: -32006 });

      const liar = await ScriptedServer.start((response) => {
        response
          .writeHead(200, { "content-type": "application/json" })
          .end('{"jsonrpc":"2.0","id":1,"result":"Hello"}');
      });
      try {
        const remote = await connect(liar.card(), { retry: { attempts: 1 } });
        const reply = async () => {
          const sent = await remote.send("Hello").catch((error: unknown) => {
            if (error instanceof RemoteError && error.code === "invalid-agent-response")
              throw new A2AError(error.code, "The agent behind talks nonsense");
            throw error;
          });
          return sent.kind;
        };
        await using before = await serveScript(done, { reply }, options);
        const error = errorOf(await post(before.url, send(userMessage("Hello"))), 1);
        expect(error).toMatchObject({ code: -32006, message: "The agent behind talks nonsense" });

        await using relay = await serveAgents(await remoteAgent(liar.card(), { retry: { attempts: 1 } }), options);
        const task = resultOf(await post(relay.url, send(userMessage("Hello"))), 1);
        expect(at(task, "status.state")).toBe("failed");
        expect(at(task, "status.message.parts.0.text")).toMatch(/^The agent "Scripted" answered with an error: /);
      } finally {
        await liar.close();
      }
    }
  },
);
