import { setTimeout as sleep } from "node:timers/promises";
import { compressionAlgorithms, status } from "@grpc/grpc-js";
import { agent, createServer, type Server, type ServerOptions } from "palaver";
import { connect } from "palaver/client";
import { afterEach, describe, expect, it } from "vitest";
import { SERVICE_0_3, SERVICE_1_0 } from "./call.ts";
import { connectByReflection, type ReflectedClient, type ReflectedOptions } from "./reflected-client.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const declare = (id: string) => ({ id, name: id, description: `The agent ${id}.`, version: "1.0.0" });
const LONG = "long ".repeat(2000);

const asking = agent({
  ...declare("asking"),
  async run(task) {
    const answer = await task.ask("Which town?");
    return `${task.text} to ${String(answer)}`;
  },
});
const slow = agent({
  ...declare("slow"),
  async *run(task) {
    yield "begun";
    await sleep(300, undefined, { signal: task.signal });
    yield ", done";
  },
});
let gate = Promise.withResolvers<void>();
const held = agent({
  ...declare("held"),
  async *run() {
    yield "begun";
    await gate.promise;
    yield ", done";
  },
});
const echo = agent({ ...declare("echo"), run: async (task) => `${task.caller.id}: ${task.text}` });

const open: { server: Server; client: ReflectedClient }[] = [];
afterEach(async () => {
  for (const { server, client } of open.splice(0)) {
    client.close();
    await server.close();
  }
});

async function serving(options: ServerOptions = {}, calling: Omit<ReflectedOptions, "target"> = {}) {
  const server = createServer([asking, slow, held, echo], {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    ...options,
  });
  const { url } = await server.listen();
  const client = await connectByReflection({ target: new URL(url).host, ...calling });
  open.push({ server, client });
  return { url, client };
}

let counter = 0;
const message = (said: string, more: object = {}) => {
  counter += 1;
  return { messageId: `m-${counter}`, role: "ROLE_USER", parts: [{ text: said }], ...more };
};

interface Card {
  readonly supportedInterfaces: readonly { readonly protocolBinding: string; readonly tenant?: string }[];
}

const textOf = (task: { artifacts?: { parts: { text: string }[] }[] }) =>
  (task.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text)).join("");

describe("A client of @grpc/grpc-js that knows only what reflection describes", () => {
  it.each(["grpc.reflection.v1", "grpc.reflection.v1alpha"] as const)(
    "finds the services by %s, and holds a conversation in 1.0",
    async (reflection) => {
      const { client } = await serving({}, { reflection });
      expect(client.services).toEqual(
        expect.arrayContaining([
          SERVICE_1_0,
          SERVICE_0_3,
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
        ]),
      );
      const { task } = await client.call(`${SERVICE_1_0}/SendMessage`, { message: message("Go") });
      expect(task.status).toMatchObject({
        state: "TASK_STATE_INPUT_REQUIRED",
        message: { parts: [{ text: "Which town?" }] },
      });
      const events = await Array.fromAsync(
        client.stream(`${SERVICE_1_0}/SendStreamingMessage`, { message: message("Oslo", { taskId: task.id }) }),
      );
      expect(events.at(-1).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
      const read = await client.call(`${SERVICE_1_0}/GetTask`, { id: task.id });
      expect(textOf(read)).toBe("Go to Oslo");
    },
  );

  it("holds a conversation in 0.3, with the five methods of its service that every binding has", async () => {
    const { client } = await serving();
    const request = (said: string, more: object = {}) => ({
      request: { messageId: `m-${said}`, role: "ROLE_USER", content: [{ text: said }], ...more },
      configuration: { blocking: true },
    });
    const { task } = await client.call(`${SERVICE_0_3}/SendMessage`, request("Go"));
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const events = await Array.fromAsync(
      client.stream(`${SERVICE_0_3}/SendStreamingMessage`, request("Oslo", { taskId: task.id })),
    );
    expect(events.at(-1).statusUpdate).toMatchObject({ final: true, status: { state: "TASK_STATE_COMPLETED" } });
    const name = `tasks/${task.id}`;
    expect((await client.call(`${SERVICE_0_3}/GetTask`, { name })).artifacts[0].parts).toEqual([
      { text: "Go to Oslo" },
    ]);
    const [closed] = await Array.fromAsync(client.stream(`${SERVICE_0_3}/TaskSubscription`, { name }));
    expect(closed.task.status.state).toBe("TASK_STATE_COMPLETED");
    await expect(client.call(`${SERVICE_0_3}/CancelTask`, { name })).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
    });
  });

  it("checks and watches the health of the server", async () => {
    const { client } = await serving();
    for (const service of ["", SERVICE_1_0, SERVICE_0_3])
      expect(await client.call("grpc.health.v1.Health/Check", { service })).toEqual({ status: "SERVING" });
    const watch = client.stream("grpc.health.v1.Health/Watch", { service: "" });
    for await (const answer of watch) {
      expect(answer).toEqual({ status: "SERVING" });
      break;
    }
  });

  it("compresses with gzip whatever it calls, and reads compressed answers", async () => {
    const channel = { "grpc.default_compression_algorithm": compressionAlgorithms.gzip };
    const { client } = await serving({}, { channel });
    const { task } = await client.call(`${SERVICE_1_0}/SendMessage`, { tenant: "agents/echo", message: message(LONG) });
    expect(textOf(task)).toBe(`anonymous: ${LONG}`);
    const events = await Array.fromAsync(
      client.stream(`${SERVICE_1_0}/SendStreamingMessage`, { tenant: "agents/echo", message: message(LONG) }),
    );
    expect(JSON.stringify(events)).toContain(LONG);
    expect(await client.call("grpc.health.v1.Health/Check", { service: "" })).toEqual({ status: "SERVING" });
  });

  it("sets a deadline, which ends its call and not the task", async () => {
    const { client, url } = await serving();
    const request = { tenant: "agents/slow", message: message("unary") };
    const deadline = () => Date.now() + 100;
    await expect(client.call(`${SERVICE_1_0}/SendMessage`, request, { deadline: deadline() })).rejects.toMatchObject({
      code: status.DEADLINE_EXCEEDED,
    });
    const stream = client.stream(
      `${SERVICE_1_0}/SendStreamingMessage`,
      { tenant: "agents/slow", message: message("stream") },
      { deadline: deadline() },
    );
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    const agents = await connect(`${url}/agents/slow/`);
    await expect
      .poll(async () => (await Array.fromAsync(agents.tasks())).map((task) => task.status.state), { timeout: 5000 })
      .toEqual(["completed", "completed"]);
  });

  it("cancels a stream, which the server then closes, while the task goes on", async () => {
    gate = Promise.withResolvers();
    const { client, url } = await serving();
    const request = { tenant: "agents/held", message: message("left") };
    const stream = client.stream(`${SERVICE_1_0}/SendStreamingMessage`, request);
    const reading = (async () => {
      for await (const { artifactUpdate } of stream) if (artifactUpdate !== undefined) stream.cancel();
    })();
    await expect(reading).rejects.toMatchObject({ code: status.CANCELLED });
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await expect.poll(metrics, { timeout: 5000 }).toMatch(/^palaver_streams 0$/m);
    expect(await metrics()).toMatch(/^palaver_subscribers 0$/m);
    const agents = await connect(`${url}/agents/held/`);
    const states = async () => (await Array.fromAsync(agents.tasks())).map((task) => task.status.state);
    expect(await states()).toEqual(["working"]);
    gate.resolve();
    await expect.poll(states, { timeout: 5000 }).toEqual(["completed"]);
  });

  it("names an agent by the tenant in 1.0 and by its authority in 0.3", async () => {
    const { client, url } = await serving({}, { channel: { "grpc.default_authority": "echo.localhost" } });
    const sent = await client.call(`${SERVICE_0_3}/SendMessage`, {
      request: { messageId: "m", role: "ROLE_USER", content: [{ text: "hi" }] },
      configuration: { blocking: true },
    });
    expect(JSON.stringify(sent)).toContain("anonymous: hi");
    const card = (await (await fetch(`${url}/agents/echo/.well-known/agent-card.json`)).json()) as Card;
    const listed = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === "GRPC");
    expect(listed).toEqual({
      url: new URL(url).host,
      protocolBinding: "GRPC",
      protocolVersion: "1.0",
      tenant: "agents/echo",
    });
    const request = { tenant: listed?.tenant, message: message("hi again") };
    expect(textOf((await client.call(`${SERVICE_1_0}/SendMessage`, request)).task)).toBe("anonymous: hi again");
  });

  it("resumes a stream with last-event-id, and gets each later event once", async () => {
    const { client } = await serving();
    const request = { tenant: "agents/slow", message: message("resume") };
    const ids: string[] = [];
    let id = "";
    for await (const event of client.stream(`${SERVICE_1_0}/SendStreamingMessage`, request)) {
      ids.push(event.palaverEventId);
      id = event.task?.id ?? id;
      if (event.artifactUpdate !== undefined) break;
    }
    const rest = await Array.fromAsync(
      client.stream(
        `${SERVICE_1_0}/SubscribeToTask`,
        { tenant: "agents/slow", id },
        { metadata: { "last-event-id": ids.at(-1) ?? "" } },
      ),
    );
    // The first message is the task as of the id that was named.
    expect(rest[0].task.id).toBe(id);
    ids.push(...rest.slice(1).map((event) => event.palaverEventId));
    expect(ids).toEqual(ids.map((_, index) => String(index)));
    expect(rest.at(-1).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  });
});
