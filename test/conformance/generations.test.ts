import { agent } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentClient, Sent } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import type { RemoteError } from "../../src/client/http/errors.ts";
import type { A2AError } from "../../src/protocol/error.ts";
import type { Task } from "../../src/protocol/task.ts";
import { openSite, type Site } from "../client/own-server.ts";

// The preview of 1.1 over every binding, against a server with `preview: ["1.1"]`.

const asking = agent({
  name: "Asking",
  description: "Asks a question.",
  version: "1",
  async *run(task) {
    yield "a";
    yield "b";
    const answer = await task.ask("Which one?");
    yield `You said ${answer}`;
  },
});

const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;

let site: Site;
let plain: Site;
beforeAll(async () => {
  site = await openSite(asking, { preview: ["1.1"] });
  plain = await openSite(asking);
});
afterAll(() => Promise.all([site.close(), plain.close()]));

function open(binding: string): Promise<AgentClient> {
  return connect(site.url, { preview: ["1.1"], binding });
}

function taskOf(sent: Sent): Task {
  if (sent.kind !== "task") throw new Error("Expected a task, got a message.");
  return sent.task;
}

function generationOf({ generation }: Task): number {
  if (generation === undefined) throw new Error("The task has no generation.");
  return generation;
}

/** A task that asks its question. */
async function asked(client: AgentClient): Promise<Task & { readonly generation: number }> {
  const task = taskOf(await client.send("go"));
  expect(task.status.state).toBe("input-required");
  return { ...task, generation: generationOf(task) };
}

function rpc(url: string, params: object, { method = "GetTask", version = "1.1" } = {}): Promise<Response> {
  return fetch(`${url}/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(version !== "" && { "A2A-Version": version }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

describe.each(BINDINGS)("1.1 over %s", (binding) => {
  it("is used if the caller allows it, and has a generation in tasks, lists and each event of a stream", async () => {
    const client = await open(binding);
    expect(client.interface).toMatchObject({ protocolVersion: "1.1", binding });
    const seen: (number | undefined)[] = [];
    const stream = client.stream("go");
    for await (const event of stream) if (event.kind !== "message") seen.push(event.task.generation);
    expect(seen[0]).toBe(1);
    expect(seen).toEqual(seen.map((_, index) => index + 1));
    const id = stream.task?.id ?? "";
    const read = await client.task(id).get();
    expect(read.generation).toBe(seen.length);
    const listed = (await client.taskPage()).tasks.find((task) => task.id === id);
    expect(listed?.generation).toBe(seen.length);
    expect(generationOf(await client.task(id).cancel())).toBeGreaterThan(seen.length);
  });

  it("answers a get at once if the task has changed, and has no wait for an ended task", async () => {
    const client = await open(binding);
    const { id, generation } = await asked(client);
    expect((await client.task(id).get({ waitForChange: 0 })).generation).toBe(generation);
    expect((await client.task(id).get({ waitForChange: generation - 1 })).generation).toBe(generation);
    const done = taskOf(await client.task(id).reply("it", { ifGeneration: generation }));
    expect(done.status.state).toBe("completed");
    const last = await client.task(id).get({ waitForChange: generationOf(done) });
    expect(last.generation).toBe(done.generation);
  });

  it("holds a get until the task changes, by an answer or by a cancel", async () => {
    const client = await open(binding);
    for (const change of ["answer", "cancel"]) {
      const { id, generation } = await asked(client);
      let isAnswered = false;
      const changed = client
        .task(id)
        .get({ waitForChange: generation })
        .finally(() => {
          isAnswered = true;
        });
      // A round trip later, the get is still waiting.
      await client.task(id).get();
      expect(isAnswered).toBe(false);
      await (change === "answer" ? client.task(id).reply("it", { wait: false }) : client.task(id).cancel());
      expect(generationOf(await changed)).toBeGreaterThan(generation);
    }
  });

  it("ends the wait of a caller that leaves", async () => {
    const client = await open(binding);
    const { id, generation } = await asked(client);
    const leaving = new AbortController();
    const waiting = client.task(id).get({ waitForChange: generation, signal: leaving.signal });
    await client.task(id).get();
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    expect((await client.task(id).get()).generation).toBe(generation);
  });

  it("accepts one of several conditional messages, and tells the others the current generation", async () => {
    const client = await open(binding);
    const { id, generation } = await asked(client);
    const sends = Array.from({ length: 5 }, (_, index) =>
      client.task(id).reply(`answer ${index}`, { ifGeneration: generation }),
    );
    const outcomes = await Promise.allSettled(sends);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) {
      const { code, cause } = reason as RemoteError & { readonly cause: A2AError };
      expect([code, cause.metadata["expectedGeneration"]]).toEqual(["task-changed", String(generation)]);
      expect(Number(cause.metadata["currentGeneration"])).toBeGreaterThanOrEqual(generation);
    }
    const task = await client.task(id).get();
    expect(task.status.state).toBe("completed");
    expect(task.history?.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("refuses a message for an earlier or a later generation, also of an ended task, and changes nothing", async () => {
    const client = await open(binding);
    const { id, generation } = await asked(client);
    for (const wrong of [0, generation - 1, generation + 1, Number.MAX_SAFE_INTEGER]) {
      await expect(client.task(id).reply("no", { ifGeneration: wrong })).rejects.toMatchObject({
        code: "task-changed",
        cause: { metadata: { expectedGeneration: String(wrong), currentGeneration: String(generation) } },
      });
    }
    expect((await client.task(id).get()).generation).toBe(generation);
    const done = generationOf(await client.task(id).cancel());
    const late = client.task(id).reply("no", { ifGeneration: generation });
    await expect(late).rejects.toMatchObject({
      code: "task-changed",
      cause: { metadata: { currentGeneration: String(done) } },
    });
    await expect(client.task(id).reply("no", { ifGeneration: done })).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });

  it("ignores the condition of a message that starts a task", async () => {
    const client = await open(binding);
    const task = taskOf(await client.send("go", { ifGeneration: 77 }));
    expect(task.status.state).toBe("input-required");
  });
});

describe("A mismatch", () => {
  it("is -32010 in JSON-RPC, 409 in REST and ABORTED in gRPC, with the reason TASK_GENERATION_MISMATCH", async () => {
    const client = await open("JSONRPC");
    const { id, generation } = await asked(client);
    const message = { messageId: "m", taskId: id, role: "ROLE_USER", parts: [{ text: "x" }] };
    const params = { message, configuration: { ifGenerationMatch: "1" } };
    const info = {
      reason: "TASK_GENERATION_MISMATCH",
      metadata: { expectedGeneration: "1", currentGeneration: String(generation) },
    };
    const overRpc = await rpc(site.url, params, { method: "SendMessage" });
    expect(await overRpc.json()).toMatchObject({ error: { code: -32010, data: [info] } });
    const overRest = await fetch(`${site.url}/message:send`, {
      method: "POST",
      headers: { "Content-Type": "application/a2a+json", "A2A-Version": "1.1" },
      body: JSON.stringify(params),
    });
    expect(overRest.status).toBe(409);
    expect(await overRest.json()).toMatchObject({ error: { status: "ABORTED", details: [info] } });
    const grpc = await open("GRPC");
    await expect(grpc.task(id).reply("x", { ifGeneration: 1 })).rejects.toMatchObject({
      code: "task-changed",
      remote: { grpcStatus: 10 },
    });
  });
});

describe("A generation that is none", () => {
  const WRONG = [
    [-1, "must not be negative"],
    ["-1", "must not be negative"],
    [1.5, "must be a whole number"],
    ["1.5", "must be a whole number"],
    ["", "must be a whole number"],
    ["one", "must be a whole number"],
    [true, "must be a whole number"],
    [{}, "must be a whole number"],
    [[1], "must be a whole number"],
    ["9223372036854775807", "must be at most 9007199254740991"],
    ["99999999999999999999", "must be a whole number"],
  ] as const;

  it.each(WRONG)("is refused by its name: %j", async (value, problem) => {
    const { id } = await asked(await open("JSONRPC"));
    const got = await rpc(site.url, { id, currentGeneration: value });
    expect(await got.json()).toMatchObject({ error: { code: -32602, message: `currentGeneration: ${problem}` } });
    const message = { messageId: "m", taskId: id, role: "ROLE_USER", parts: [{ text: "x" }] };
    const params = { message, configuration: { ifGenerationMatch: value } };
    const sent = await rpc(site.url, params, { method: "SendMessage" });
    expect(await sent.json()).toMatchObject({
      error: { code: -32602, message: `configuration.ifGenerationMatch: ${problem}` },
    });
  });

  it.each(["-1", "x", "1.5", "1&currentGeneration=2"])("is refused in the query of REST: %s", async (value) => {
    const { id } = await asked(await open("HTTP+JSON"));
    const answer = await fetch(`${site.url}/tasks/${id}?currentGeneration=${value}`, {
      headers: { "A2A-Version": "1.1" },
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("currentGeneration: must");
  });
});

describe("1.1 without an opt-in", () => {
  it("is not offered and not supported by a server without preview", async () => {
    const card = await (await fetch(`${plain.url}/.well-known/agent-card.json`)).text();
    expect(card).not.toContain("1.1");
    const refused = await rpc(plain.url, { id: "t" });
    expect(await refused.json()).toMatchObject({ error: { code: -32009 } });
    await expect(connect(plain.url, { version: "1.1" })).rejects.toMatchObject({ code: "no-interface" });
    expect((await connect(plain.url, { preview: ["1.1"] })).interface.protocolVersion).toBe("1.0");
  });

  it("is not used by a client that does not ask for it", async () => {
    const card = await (await fetch(`${site.url}/.well-known/agent-card.json`)).text();
    expect(card.match(/"protocolVersion":"1\.1"/g)).toHaveLength(BINDINGS.length);
    const client = await connect(site.url);
    expect(client.interface.protocolVersion).toBe("1.0");
    const task = taskOf(await client.send("go"));
    expect(task.generation).toBeUndefined();
    const refused = [
      client.task(task.id).get({ waitForChange: 1 }),
      client.task(task.id).reply("x", { ifGeneration: 1 }),
    ];
    for (const promise of refused) await expect(promise).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it.each(["1.0", ""])("changes no answer of a request with A2A-Version %j", async (version) => {
    const { id, generation } = await asked(await open("JSONRPC"));
    // The members of 1.1 are unknown to 1.0, and ignored.
    const got = await rpc(site.url, { id, currentGeneration: String(generation) }, { version });
    expect(await got.text()).not.toContain("generation");
    const overRest = await fetch(`${site.url}/tasks/${id}?currentGeneration=${generation}`, {
      headers: version === "" ? {} : { "A2A-Version": version },
    });
    expect(await overRest.text()).not.toContain("generation");
    const message = { messageId: "m", taskId: id, role: "ROLE_USER", parts: [{ text: "x" }] };
    const params = { message, configuration: { ifGenerationMatch: "1" } };
    const sent = await (await rpc(site.url, params, { method: "SendMessage", version })).text();
    expect(sent).toContain("TASK_STATE_COMPLETED");
    expect(sent).not.toContain("generation");
  });
});
