import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { remoteAgent } from "../../src/adapters/remote/remote-agent.ts";
import { IDEMPOTENT_SEND } from "../../src/protocol/extensions.ts";
import { textOf } from "../../src/protocol/part.ts";
import { openHarness } from "../../src/testing/engine-harness.ts";
import { json, rpc, ScriptedServer, wireTask } from "../client/lying-server.ts";

const UNKNOWN = /may or may not have received the message/;

it.each([
  [
    "again with the same id within the remote agent's idempotency window",
    { windowSeconds: 600, protocolVersion: "1.0" },
    "completed",
  ],
  ["not again after the remote agent's idempotency window", { windowSeconds: 0.05, protocolVersion: "1.0" }, UNKNOWN],
  ["not again in a version without message ids", { windowSeconds: 600, protocolVersion: "0.1" }, UNKNOWN],
] as const)(
  "a message that was in transit when the relay was killed is sent %s",
  async (_, { windowSeconds, protocolVersion }, end) => {
    const server = await ScriptedServer.start((response, request, count) => {
      // The first request is never answered.
      if (count > 1) json(response, rpc(request, { task: wireTask("COMPLETED") }));
    });
    onTestFinished(() => server.close());
    const capabilities = { extensions: [{ uri: IDEMPOTENT_SEND, params: { windowSeconds } }] };
    const agents = await remoteAgent(server.card({ capabilities }, { protocolVersion }));
    await using harness = await openHarness({ agents });
    const { taskId } = await harness.start("go");
    while (server.received.length === 0) await wait(5);
    await wait(60);
    const again = await harness.crash();
    const looked = async () => (await again.get(taskId)).status;
    while (["submitted", "working"].includes((await looked()).state)) await wait(5);
    const { state, message } = await looked();
    if (typeof end === "string") expect(state).toBe(end);
    else expect(textOf(message?.parts ?? [])).toMatch(end);
    expect(server.received).toHaveLength(end === UNKNOWN ? 1 : 2);
    expect(new Set(server.received.map(({ body }) => JSON.stringify(body.params?.["message"]))).size).toBe(1);
  },
);
