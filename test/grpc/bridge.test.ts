import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { agent, createServer, remoteAgent, type Server } from "palaver";
import { connect } from "palaver/client";
import { afterEach, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const OPTIONS = { port: 0, store: "memory:", logger: QUIET, drainTimeout: 0 };
const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0).reverse()) await server.close();
});

async function serving(served: Parameters<typeof createServer>[0]): Promise<string> {
  const server = createServer(served, OPTIONS);
  open.push(server);
  return (await server.listen()).url;
}

const asking = agent({
  name: "Asking",
  description: "Asks a question.",
  version: "1.0.0",
  async run(task) {
    const answer = await task.ask("Which town?");
    return `${task.text} to ${String(answer)}`;
  },
});

it.each(["1.0", "0.3"])("A remote agent is called over gRPC %s, and served over gRPC again", async (version) => {
  const bridge = await serving(await remoteAgent(await serving(asking), { binding: "GRPC", version }));
  const client = await connect(bridge, { binding: "GRPC" });
  const question = await client.send("Go");
  const task = question.kind === "task" ? question.task : undefined;
  expect(task?.status.state).toBe("input-required");
  const answered = await client.send("Oslo", { taskId: task?.id ?? "" });
  expect(answered.kind === "task" && answered.task.artifacts?.[0]?.parts).toEqual([{ text: "Go to Oslo" }]);
});

it("`--transport grpc` calls over gRPC", async () => {
  const echo = agent({ name: "Echo", description: "Repeats.", version: "1.0.0", run: async (task) => task.text });
  const url = await serving(echo);
  const args = [MAIN, "send", "by gRPC", "-a", url, "--transport", "grpc", "--debug"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain("by gRPC");
  expect(stderr).toContain("GRPC 1.0 at");
});
