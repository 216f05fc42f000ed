import { A2AError, createServer, StartupError } from "palaver";
import { expect, it } from "vitest";
import { get, post } from "../exchange.ts";
import { rpcRequest } from "../rpc.ts";
import { scripted, serveAgents } from "../stage.ts";
import { seed } from "./seed.ts";
import { taskParams } from "./tasks.ts";

it(
  seed.example(
    "6.1 Start-up check › pushNotifications",
    "an agent that declares what the server does not do is not served",
  ),
  () => {
    const boasting = scripted(async () => "done", { capabilities: { pushNotifications: true } });
    expect(() => createServer(boasting, { store: "memory:" })).toThrow(StartupError);
    expect(() => createServer(boasting, { store: "memory:" })).toThrow(/pushNotifications/);
  },
);

it(seed.example("6.3 Authentication › the card is public", "who may not call may still read it"), async () => {
  await using stage = await serveAgents(
    scripted(async () => "done"),
    {
      authenticate() {
        throw new A2AError("unauthenticated", "Nobody is let in");
      },
    },
  );
  const send = await post(stage.url, rpcRequest(1, "tasks/send", taskParams("task-1", "Hello")));
  expect(send.status).toBe(401);
  expect((await get(`${stage.url}/.well-known/agent.json`)).status).toBe(200);
});
