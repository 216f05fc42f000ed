import { afterEach, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { json, rpc, rpcError, ScriptedServer } from "./lying-server.ts";

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

it('an agent that answers webhook methods with "unsupported operation" does not support webhooks', async () => {
  server = await ScriptedServer.start((response, request) => json(response, rpcError(request, -32004, "Not here")));
  const { push } = (await connect(server.card())).task("t1");
  const calls = [push.create({ url: "https://example.org/hook" }), push.get("x"), push.list(), push.delete("x")];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({
      code: "push-not-supported",
      message: "Not here",
      remote: { rpcCode: -32004 },
    });
  }
  expect(server.received).toHaveLength(4);
});

it("a version without list and delete for webhooks does not mean that the agent has no webhooks", async () => {
  server = await ScriptedServer.start((response) => json(response, "{}"));
  const agent = await connect(server.card({}, { protocolVersion: "0.1" }));
  await expect(agent.task("t1").push.list()).rejects.toMatchObject({ code: "unsupported-operation" });
  expect(server.received).toEqual([]);
});

it("a paged list of webhooks is read to its end, up to a limit", async () => {
  const config = (id: string): object => ({ id, taskId: "t1", url: "https://example.org/hook" });
  server = await ScriptedServer.start((response, request) => {
    const { taskId, pageToken = "1" } = request.body.params ?? {};
    const nextPageToken = taskId === "t2" ? "1" : { 1: "2", 2: "3" }[String(pageToken)];
    json(response, rpc(request, { configs: [config(`c${String(pageToken)}`)], nextPageToken }));
  });
  const agent = await connect(server.card());
  expect((await agent.task("t1").push.list()).map(({ id }) => id)).toEqual(["c1", "c2", "c3"]);
  await expect(agent.task("t2").push.list()).rejects.toMatchObject({ code: "invalid-agent-response" });
  expect(server.received).toHaveLength(5);
});
