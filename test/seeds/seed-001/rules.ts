import { expect, it } from "vitest";
import { at, post } from "../exchange.ts";
import { textPart, userMessage } from "../kinds.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const send = (message: object): object => rpcRequest(1, "message/send", { message });

it(
  seed.example(
    "5.5.2.1. AgentExtension › required",
    "a request without a required extension is refused with the extension's name; with it, it is accepted",
  ),
  async () => {
    const uri = "https://example.org/extensions/required";
    for (const options of EITHER_WAY) {
      const extensions = [{ uri, required: true, params: { level: 1 } }];
      await using testServer = await serveScript(async () => "done", { extensions }, options);
      const refused = await post(testServer.url, send(userMessage("Hello")));
      expect(at(refused.json, "error.code")).toBeLessThan(0);
      expect(refused.text).toContain(uri);
      const followed = await post(testServer.url, send(userMessage("Hello")), { "x-a2a-extensions": uri });
      expect(at(resultOf(followed, 1), "status.state")).toBe("completed");
    }
  },
);

it(seed.example("5.5.4. AgentSkill › inputModes", "the types of a skill replace the types of the agent"), async () => {
  const skill = (id: string, more: object = {}) => ({ id, name: id, description: "A skill.", tags: ["x"], ...more });
  const skills = [skill("read"), skill("look", { inputModes: ["image/png"] })];
  const picture = { kind: "file", file: { mimeType: "image/png", bytes: "iVBORw0KGgo=" } };
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(async () => "done", { inputModes: ["text/plain"], skills }, options);
    const use = (skillId: string, part: object) =>
      post(testServer.url, send(userMessage("", { parts: [part], metadata: { skillId } })));
    for (const [skillId, part] of [
      ["read", textPart("Hello")],
      ["look", picture],
    ] as const)
      expect(at(resultOf(await use(skillId, part), 1), "status.state")).toBe("completed");
    for (const [skillId, part] of [
      ["read", picture],
      ["look", textPart("Hello")],
    ] as const)
      expect(errorOf(await use(skillId, part), 1), skillId).toMatchObject({ code: -32005 });
  }
});

it(
  seed.example(
    "6.11. JSON-RPC Structures › id",
    "a string, an integer or null is returned unchanged; a request without an id gets no response and starts no run",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      let runs = 0;
      await using testServer = await serveScript(async () => void runs++, {}, options);
      const params = { message: userMessage("Hello") };
      for (const id of ["req-1", "", 0, -7, 9_007_199_254_740_991, null]) {
        const { json } = await post(testServer.url, { jsonrpc: "2.0", id, method: "message/send", params });
        expect(json).toEqual({ jsonrpc: "2.0", id, result: expect.objectContaining({ kind: "task" }) });
      }
      const done = runs;
      for (const id of [undefined, 1.5, true, {}, [1]]) {
        const { json } = await post(testServer.url, { jsonrpc: "2.0", id, method: "message/send", params });
        expect(json).toEqual({ jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32600 }) });
      }
      expect(runs).toBe(done);
    }
  },
);

it(
  seed.example(
    "7.1.1. MessageSendParams › historyLength",
    "the task in the response of a send has at most that many messages",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async (task) => task.ask(`${task.text}?`), {}, options);
      const first = await post(testServer.url, send(userMessage("one")));
      const taskId = at(resultOf(first, 1), "id");
      const answer = userMessage("two", { taskId });
      const params = { message: answer, configuration: { historyLength: 2 } };
      const task = resultOf(await post(testServer.url, rpcRequest(2, "message/send", params)), 2);
      expect(at(task, "history")).toMatchObject([{ parts: [textPart("one?")] }, { parts: [textPart("two")] }]);
      const whole = resultOf(await post(testServer.url, rpcRequest(3, "tasks/get", { id: taskId })), 3);
      expect(at(whole, "history")).toHaveLength(3);
    }
  },
);
