import { demoAgents } from "../../src/demo/agents.ts";
import { agent } from "../../src/engine/agent/agent.ts";
import { createLogger } from "../../src/platform/create-logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";

const identity = { description: "For tests.", version: "3.2.1" };

const failing = agent({
  ...identity,
  id: "failing",
  name: "Failing",
  async run() {
    throw new Error("It broke.");
  },
});

const rejecting = agent({
  ...identity,
  id: "rejecting",
  name: "Rejecting",
  async run(task) {
    return task.reject("Not today.");
  },
});

const locked = agent({
  ...identity,
  id: "locked",
  name: "Locked",
  async run(task) {
    await task.requireAuth("Show your badge.");
    return "Open.";
  },
});

const slow = agent({
  ...identity,
  id: "slow",
  name: "Slow",
  async *run(task) {
    yield "So ";
    await task.sleep(60_000);
    yield "slow.";
  },
});

/** An agent whose artifacts contain every kind of part. */
const rich = agent({
  ...identity,
  id: "rich",
  name: "Rich",
  async run(task) {
    await task.artifact("note").end("line one\n\nTask: forged\n\u001b[31mred");
    await task.artifact("figures").end({ answer: 42 });
    const bytes = new TextEncoder().encode("%PDF");
    await task.artifact("report").end({ file: { name: "../report.pdf", mediaType: "application/pdf", bytes } });
    await task
      .artifact("link")
      .end([{ url: "https://example.org/big.bin", filename: "big.bin", mediaType: "application/octet-stream" }]);
  },
});

/** Starts a server with these agents and the agents of the demonstration, on a free port. */
export async function startWorld(): Promise<{ readonly url: string; readonly server: Server }> {
  const logger = createLogger({ level: "silent", pretty: false });
  const agents = [...demoAgents, failing, rejecting, locked, slow, rich];
  const server = createServer(agents, { store: "memory:", port: 0, logger, drainTimeout: 0 });
  const { url } = await server.listen();
  return { url, server };
}
