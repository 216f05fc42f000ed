import { agent } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentClient, RemoteStreamEvent, Sent } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { RemoteError } from "../../src/client/http/errors.ts";
import type { Artifact } from "../../src/protocol/artifact.ts";
import { textOf } from "../../src/protocol/part.ts";
import type { Task } from "../../src/protocol/task.ts";
import { openSite, type Site } from "./own-server.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite(undefined, { preview: ["1.1"] });
});
afterAll(() => site.close());

function text(task: Task | undefined): string {
  return (task?.artifacts ?? []).map(({ parts }: Artifact) => textOf(parts)).join("");
}

function taskOf(sent: Sent): Task {
  if (sent.kind !== "task") throw new Error("Expected a task, got a message.");
  return sent.task;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RemoteError);
  return (error as RemoteError).code;
}

const DIALECTS = [
  ["1.1 JSON-RPC", { version: "1.1", binding: "JSONRPC" }],
  ["1.1 REST", { version: "1.1", binding: "HTTP+JSON" }],
  ["1.1 gRPC", { version: "1.1", binding: "GRPC" }],
  ["1.0 JSON-RPC", { version: "1.0", binding: "JSONRPC" }],
  ["1.0 REST", { version: "1.0", binding: "HTTP+JSON" }],
  ["1.0 gRPC", { version: "1.0", binding: "GRPC" }],
  ["0.3 JSON-RPC", { version: "0.3", binding: "JSONRPC" }],
  ["0.3 REST", { version: "0.3", binding: "HTTP+JSON" }],
  ["0.3 gRPC", { version: "0.3", binding: "GRPC" }],
  ["0.2 JSON-RPC", { version: "0.2", binding: "JSONRPC" }],
  ["0.1 JSON-RPC", { version: "0.1", binding: "JSONRPC" }],
] as const;

/** The 1.0 card lists the interfaces of all versions. */
function open(options: { readonly version: string; readonly binding: string }): Promise<AgentClient> {
  return connect(site.url, options);
}

describe.each(DIALECTS)("a client of our own server in %s", (_, choice) => {
  it("receives the result of a send", async () => {
    const agent = await open(choice);
    expect(agent.interface.protocolVersion).toBe(choice.version);
    const task = taskOf(await agent.send("hello"));
    expect(task.status.state).toBe("completed");
    expect(text(task)).toBe("You said hello");
  });

  it("does not wait for the task with wait: false", async () => {
    const agent = await open(choice);
    const task = taskOf(await agent.send("hang", { wait: false }));
    expect(["submitted", "working"]).toContain(task.status.state);
    const canceled = await agent.task(task.id).cancel();
    expect(canceled.status.state).toBe("canceled");
    expect((await agent.task(task.id).wait()).status.state).toBe("canceled");
  });

  it("streams every event once and in order, each with the current task", async () => {
    const agent = await open(choice);
    const stream = agent.stream("count 100");
    const chunks: string[] = [];
    const sizes: number[] = [];
    const states: string[] = [];
    for await (const event of stream) {
      if (event.kind === "artifact") {
        chunks.push(textOf(event.artifact.parts));
        sizes.push(event.task.artifacts?.[0]?.parts.length ?? 0);
      }
      if (event.kind === "status") states.push(event.status.state);
    }
    expect(chunks.join("")).toBe(Array.from({ length: 100 }, (_, index) => `${index + 1} `).join(""));
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(states.at(-1)).toBe("completed");
    expect(text(stream.task)).toBe(chunks.join(""));
    expect(await stream.result()).toEqual({ kind: "task", task: stream.task });
  });

  it("replies to a task that asked a question", async () => {
    const agent = await open(choice);
    const asking = taskOf(await agent.send("ask"));
    expect(asking.status.state).toBe("input-required");
    expect(textOf(asking.status.message?.parts ?? [])).toBe("What is your name?");
    const done = taskOf(await agent.task(asking.id).reply("Ada"));
    expect(done.id).toBe(asking.id);
    expect(text(done)).toBe("Hello, Ada!");
  });

  it("answers questions with its onInput callback", async () => {
    const agent = await open(choice);
    const asked: string[] = [];
    const onInput = ({ text: question }: { readonly text: string }): string => {
      asked.push(question);
      return question === "First?" ? "one" : "two";
    };
    const sent = taskOf(await agent.send("twice", { onInput }));
    expect(asked).toEqual(["First?", "Second?"]);
    expect(text(sent)).toBe("one and two");
    const events: RemoteStreamEvent[] = [];
    const stream = agent.stream("twice", { onInput });
    for await (const event of stream) events.push(event);
    expect(text(stream.task)).toBe("one and two");
    expect(events.flatMap((event) => (event.kind === "status" ? [event.status.state] : [])).slice(-5)).toEqual([
      "input-required",
      "working",
      "input-required",
      "working",
      "completed",
    ]);
  });

  it("lets the agent call the caller's tools", async () => {
    const agent = await open(choice);
    const add = (input: unknown): number => {
      const { a, b } = input as { a: number; b: number };
      return a + b;
    };
    expect(text(taskOf(await agent.send("tool add", { tools: { add } })))).toBe("The tool says 5");
    const broken = (): never => {
      throw new Error("no batteries");
    };
    expect(text(taskOf(await agent.send("tool broken", { tools: { broken } })))).toContain("no batteries");
  });

  it("leaves a question open if no callback answers it", async () => {
    const agent = await open(choice);
    const stream = agent.stream("ask", { onInput: () => undefined });
    const result = taskOf(await stream.result());
    expect(result.status.state).toBe("input-required");
  });

  it("gets a task, and an error for an unknown task", async () => {
    const agent = await open(choice);
    const made = taskOf(await agent.send("data"));
    const task = await agent.task(made.id).get();
    expect(task.artifacts?.[0]?.parts[0]?.data).toEqual({ answer: 42 });
    expect(await codeOf(agent.task("nothing").get())).toBe("task-not-found");
  });

  it("lets several subscribers follow a task to its end", async () => {
    const agent = await open(choice);
    const { id } = taskOf(await agent.send("ask"));
    const seen = agent.task(id).subscribe();
    const first = await seen[Symbol.asyncIterator]().next();
    expect(first.done).toBe(false);
    await agent.task(id).reply("Bob", { wait: false });
    expect(text(taskOf(await seen.result()))).toBe("Hello, Bob!");
    expect((await agent.task(id).wait()).status.state).toBe("completed");
  });

  it("receives the failure of a task", async () => {
    const agent = await open(choice);
    expect(taskOf(await agent.send("fail")).status.state).toBe("failed");
    expect(await codeOf(agent.task("nothing").cancel())).toBe("task-not-found");
  });

  it("lists tasks page by page, if the version supports it", async () => {
    const agent = await open(choice);
    const listed: string[] = [];
    const reading = (async () => {
      for await (const { id } of agent.tasks({ pageSize: 3 })) listed.push(id);
    })();
    if (choice.version.startsWith("1.") || choice.binding === "HTTP+JSON") {
      await reading;
      expect(listed.length).toBeGreaterThan(3);
      expect(new Set(listed).size).toBe(listed.length);
    } else expect(await codeOf(reading)).toBe("unsupported-operation");
  });

  it("gets the extended card, if the version has one", async () => {
    const agent = await open(choice);
    if (choice.version === "0.1") expect(await codeOf(agent.extendedCard())).toBe("unsupported-operation");
    else expect((await agent.extendedCard()).description).toBe("Follows a script, and more.");
  });

  it("gets a clear error for webhooks if the server does not support them", async () => {
    const agent = await open(choice);
    const { id } = taskOf(await agent.send("hello"));
    const { push } = agent.task(id);
    expect(await codeOf(push.create({ url: "https://example.com/hook" }))).toBe("push-not-supported");
  });
});

describe("webhooks", () => {
  let notifying: Site;
  beforeAll(async () => {
    const identity = { id: "notifying", name: "Notifying", description: "Tells of itself.", version: "1.0.0" };
    notifying = await openSite(agent({ ...identity, run: async () => "done" }), { preview: ["1.1"] });
  });
  afterAll(() => notifying.close());

  it.each(DIALECTS)(
    "are created, read, listed and deleted in %s, as far as the version defines it",
    async (_, choice) => {
      const remote = await connect(notifying.url, choice);
      const { push } = remote.task(taskOf(await remote.send("hello")).id);
      const url = "https://93.184.215.14/hook";
      const { id = "" } = await push.create({ url, token: "secret", authentication: { schemes: ["Bearer"] } });
      expect(await push.get()).toMatchObject({ url });
      if (choice.version === "0.1") {
        expect(await codeOf(push.list())).toBe("unsupported-operation");
        return;
      }
      expect(id).not.toBe("");
      expect(await push.get(id)).toMatchObject({ id, url });
      expect((await push.list()).map((config) => config.url)).toEqual([url]);
      await push.delete(id);
      expect(await push.list()).toEqual([]);
      expect(await codeOf(push.get(id))).toBe("task-not-found");
    },
  );
});

describe("a client of our own server in the plain dialect", () => {
  const choice = { binding: "plain", version: "plain" };

  it("polls until a sent message has its result", async () => {
    const agent = await connect(site.url, { ...choice, poll: { first: 5 } });
    const task = taskOf(await agent.send("hello"));
    expect(task.status.state).toBe("completed");
    expect(textOf(task.status.message?.parts ?? [])).toBe("You said hello");
  });

  it("polls instead of streaming", async () => {
    const agent = await connect(site.url, { ...choice, poll: { first: 5 } });
    const stream = agent.stream("hello");
    expect(taskOf(await stream.result()).status.state).toBe("completed");
  });
});
