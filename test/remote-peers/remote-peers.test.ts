import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type RemoteAgent, type Sent, type Task, textOf } from "../../src/client.ts";
import { CuttingProxy } from "../e2e/cutting-proxy.ts";
import { type PeerServer, startKindedServer } from "./kinded-server.ts";

const LINES = [
  ["@a2a-js/sdk 0.3.14 | 0.3 | JSON-RPC", "0.3", "JSONRPC"],
  ["@a2a-js/sdk 0.3.14 | 0.3 | REST", "0.3", "HTTP+JSON"],
  ["@a2a-js/sdk 0.2.5 | 0.2 | JSON-RPC", "0.2", "JSONRPC"],
] as const;

function taskOf(sent: Sent): Task {
  if (sent.kind !== "task") throw new Error("A message came instead of a task.");
  return sent.task;
}

function answerOf(task: Task): string {
  return (task.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? "")).join("");
}

function chunks(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index};`).join("");
}

describe.each(LINES)("%s", (_, line, binding) => {
  let server: PeerServer;
  let agent: RemoteAgent;
  beforeAll(async () => {
    server = await startKindedServer(line, binding);
    agent = await connect(server.url);
  });
  afterAll(() => server.close());

  describe("Discovery", () => {
    it("agent card", () => expect(agent.card.name).toBe("Peer"));
  });

  describe("Send", () => {
    it("wait for the finished task", async () => {
      const task = taskOf(await agent.send("hello"));
      expect(task.status.state).toBe("completed");
      expect(answerOf(task)).toBe("hello");
    });
    it("answered with a message", async () => {
      const sent = await agent.send("message");
      expect(sent.kind === "message" && textOf(sent.message.parts)).toBe("just a message");
    });
    it("task fails", async () => expect(taskOf(await agent.send("fail")).status.state).toBe("failed"));
  });

  describe("Stream", () => {
    it("task from beginning to end", async () => {
      const task = taskOf(await agent.stream("chunks 50").result());
      expect(task.status.state).toBe("completed");
      expect(answerOf(task)).toBe(chunks(50));
    });
  });

  describe("Content, both ways", () => {
    it("files and structured data", async () => {
      const sent = [
        { raw: "aGVsbG8=", mediaType: "text/plain", filename: "hello.txt" },
        { url: "https://files.example/a.png", mediaType: "image/png" },
        { data: { deep: [1, { two: null }] } },
      ];
      // The REST of 0.3 has no room for the names of files.
      const expected =
        binding === "HTTP+JSON" ? [{ raw: "aGVsbG8=", mediaType: "text/plain" }, ...sent.slice(1)] : sent;
      const [artifact] = taskOf(await agent.send(sent)).artifacts ?? [];
      expect(artifact?.parts).toMatchObject(expected);
    });
  });

  describe("Subscribe", () => {
    it("running task", async () => {
      const { id } = taskOf(await agent.send("hang", { wait: false }));
      const states: string[] = [];
      for await (const event of agent.task(id).subscribe()) {
        if (states.length === 0) await agent.task(id).cancel();
        if (event.kind !== "message") states.push(event.task.status.state);
      }
      expect(states.at(-1)).toBe("canceled");
    });
  });

  describe("Broken connections", () => {
    it("complete artifact from a stream of 3000 chunks", async () => {
      const proxies: CuttingProxy[] = [];
      const cut = await startKindedServer(line, binding, async (url) => {
        // Room enough for the finished task in one piece, which is all that this server has to offer after a cut.
        const proxy = await CuttingProxy.start(url, () => 200_000 + Math.floor(Math.random() * 100_000));
        proxies.push(proxy);
        return proxy.url;
      });
      try {
        const remote = await connect(cut.url);
        const task = taskOf(await remote.stream("chunks 3000").result());
        expect(task.status.state).toBe("completed");
        expect(answerOf(task)).toBe(chunks(3000));
        expect(proxies[0]?.cuts).toBeGreaterThan(0);
      } finally {
        await Promise.all([cut.close(), ...proxies.map((proxy) => proxy.close())]);
      }
    });
  });

  describe("Multi-turn", () => {
    it("question answered by onInput", async () => {
      const task = taskOf(await agent.send("ask", { onInput: ({ text }) => `you asked ${text}` }));
      expect(task.status.state).toBe("completed");
      expect(answerOf(task)).toBe("you asked which one?");
    });
  });

  describe("Get", () => {
    it("get a task", async () => {
      const { id } = taskOf(await agent.send("hello"));
      expect((await agent.task(id).get()).status.state).toBe("completed");
    });
    it("no such task", async () => {
      await expect(agent.task("nowhere").get()).rejects.toMatchObject({ code: "task-not-found" });
    });
  });

  describe("Cancel", () => {
    it("running task", async () => {
      const { id } = taskOf(await agent.send("hang", { wait: false }));
      // A server of 0.2 answers with the task as it was when it told the agent.
      await agent.task(id).cancel();
      expect((await agent.task(id).wait()).status.state).toBe("canceled");
    });
  });
});
