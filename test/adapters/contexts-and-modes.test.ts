import { type Agent, agent, type RemoteAgentOptions, remoteAgent } from "palaver";
import type { IncomingRequest } from "palaver/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentClient, connect } from "../../src/client.ts";
import { json, rpc, rpcError, ScriptedServer, wireTask } from "../client/lying-server.ts";
import { openSite } from "../client/own-server.ts";
import { answerOf, newStore, QUICK, taskOf } from "./relaying.ts";

/** An agent that answers with the context id of its task. */
function behind(): Agent {
  return agent({
    name: "Behind",
    description: "Tells its context.",
    version: "1",
    inputModes: ["*/*"],
    outputModes: ["*/*"],
    run: async (task) => task.contextId,
  });
}

/** The bearer token is the caller's id. */
const byToken = {
  authenticate: ({ headers }: IncomingRequest) => ({ id: headers.get("authorization") ?? "nobody", anonymous: false }),
};

async function front(url: string, store: string, options: RemoteAgentOptions = {}) {
  const site = await openSite(await remoteAgent(url, { ...QUICK, ...options }), { store, ...byToken });
  onTestFinished(() => site.close());
  return {
    close: () => site.close(),
    as: (name: string): Promise<AgentClient> =>
      connect(site.url, { ...QUICK, headers: { authorization: name }, cache: false }),
  };
}

async function contextBehind(caller: AgentClient, contextId?: string): Promise<string> {
  return answerOf(taskOf(await caller.send("where?", contextId === undefined ? {} : { contextId })));
}

describe("the context of a relayed task", () => {
  it("is the same for the same caller and context, also after a restart, and different otherwise", async () => {
    const site = await openSite(behind());
    onTestFinished(() => site.close());
    const store = await newStore();
    const first = await front(site.url, store);
    const ada = await first.as("ada");
    const context = await contextBehind(ada, "c1");
    expect(context).not.toBe("c1");
    expect(await contextBehind(ada, "c1")).toBe(context);
    const others = [
      await contextBehind(ada, "c2"),
      await contextBehind(ada),
      await contextBehind(await first.as("bob"), "c1"),
    ];
    expect(new Set([context, ...others]).size).toBe(4);
    await first.close();
    const second = await front(site.url, store);
    expect(await contextBehind(await second.as("ada"), "c1")).toBe(context);
    await second.close();
    const elsewhere = await front(site.url, await newStore());
    expect(await contextBehind(await elsewhere.as("ada"), "c1")).not.toBe(context);
  });

  it("gets a new remote task for the message of a second task, not a reply to the first task's question", async () => {
    const site = await openSite(
      agent({
        ...{ name: "Asker", description: "Asks once.", version: "1" },
        run: async (task) => `${task.text}: ${await task.ask("Which one?")}`,
      }),
    );
    onTestFinished(() => site.close());
    const relay = await openSite(await remoteAgent(site.url, QUICK), { answerByContext: false });
    onTestFinished(() => relay.close());
    const caller = await connect(relay.url, QUICK);
    const [one, two] = [
      taskOf(await caller.send("one", { contextId: "c" })),
      taskOf(await caller.send("two", { contextId: "c" })),
    ];
    expect([one, two].map(({ status }) => status.state)).toEqual(["input-required", "input-required"]);
    expect(answerOf(taskOf(await caller.task(one.id).reply("blue")))).toBe("one: blue");
    expect(answerOf(taskOf(await caller.task(two.id).reply("red")))).toBe("two: red");
  });

  it("is created by the remote agent if that accepts no context ids from callers", async () => {
    const server = await ScriptedServer.start((response, request) => {
      const message = Object(request.body.params?.["message"]);
      if ("contextId" in message) return json(response, rpcError(request, -32602, "Unknown contextId"));
      json(response, rpc(request, { task: wireTask("COMPLETED") }));
    });
    onTestFinished(() => server.close());
    const relay = await openSite(await remoteAgent(server.card(), QUICK));
    onTestFinished(() => relay.close());
    const task = taskOf(await (await connect(relay.url, QUICK)).send("go"));
    expect(task.status.state).toBe("completed");
    expect(server.received.map(({ body }) => Object(body.params?.["message"]).messageId)).toHaveLength(2);
  });
});

describe("media types of a remote card", () => {
  it.each([
    ["application/json", { defaultInputModes: ["application/json"], defaultOutputModes: ["application/json"] }],
    ["text", { defaultInputModes: ["text"], defaultOutputModes: ["text"] }],
    ["null", { defaultInputModes: null, defaultOutputModes: null }],
  ])("that are %s block no message to the remote agent", async (_, modes) => {
    const server = await ScriptedServer.start((response, request) =>
      json(response, rpc(request, { task: wireTask("COMPLETED") })),
    );
    onTestFinished(() => server.close());
    const wireCard = {
      ...{ name: "Odd", description: "Odd.", version: "1", capabilities: {}, ...modes },
      skills: [{ id: "s", name: "S", description: "S.", tags: [], inputModes: ["application/json"] }],
      supportedInterfaces: [{ url: `${server.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
    const relay = await openSite(await remoteAgent(wireCard, QUICK));
    onTestFinished(() => relay.close());
    const caller = await connect(relay.url, QUICK);
    const said = [{ text: "look" }, { raw: "AAAA", mediaType: "image/png" }, { data: { a: 1 } }];
    const sent = await caller.send(said, { outputModes: ["audio/wav"], metadata: { skillId: "s" } });
    expect(taskOf(sent).status.state).toBe("completed");
    const { message, configuration } = Object(server.received[0]?.body.params);
    expect(message.parts).toMatchObject(said);
    expect(configuration.acceptedOutputModes).toEqual(["audio/wav"]);
  });
});
