import { randomUUID } from "node:crypto";
import { cannot, type ServerPeer } from "../peer.ts";
import { type Execution, heardIn, serveSdk } from "../sdk-server.ts";
import { ServerScript } from "../server-script.ts";

/**
 * `A2AExpressServer`. The card says version 0.2.0, and is only at the address of 0.3. States have no timestamp, tasks
 * no history. The artifact ends with an empty chunk. A failure ends the stream with an error.
 */
export const strandsServer: ServerPeer = {
  name: "Strands Agents",
  package: "@strands-agents/sdk",
  version: "1.19.0",
  protocol: "0.2 JSON-RPC",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": "works",
    "question and answer": cannot("the server has no questions"),
    "failed task": "works",
    "cancel a running task": cannot("the server does not cancel"),
    "list of tasks": "works",
    "text, through remoteAgent": "works",
    "file, through remoteAgent": "works",
  },
  start() {
    const script = new ServerScript();
    return serveSdk({
      cardPath: "/.well-known/agent-card.json",
      rpcPath: "/",
      card: (url) => ({
        name: "Scripted",
        description: "",
        version: "0.0.1",
        protocolVersion: "0.2.0",
        url,
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [],
        capabilities: { streaming: true },
      }),
      execute: (execution) => execute(script, execution),
      cancel() {
        throw new Error("Cancellation is not supported.");
      },
    });
  },
};

async function execute(script: ServerScript, { taskId, contextId, message, left, publish }: Execution): Promise<void> {
  publish({ kind: "task", id: taskId, contextId, status: { state: "working" } });
  const act = script.act({ ...heardIn(message), conversation: contextId });
  if (act.kind === "fail") throw new Error(act.reason);
  if (act.kind === "work") return void (await new Promise((resolve) => left.addEventListener("abort", resolve)));
  const artifactId = randomUUID();
  const tokens = act.kind === "ask" ? [act.question] : act.tokens;
  for (const [index, text] of [...tokens, ""].entries()) {
    const artifact = { artifactId, parts: [{ kind: "text", text }] };
    const isLast = index === tokens.length;
    publish({
      kind: "artifact-update",
      taskId,
      contextId,
      artifact,
      append: index > 0,
      ...(isLast && { lastChunk: true }),
    });
  }
  publish({ kind: "status-update", taskId, contextId, status: { state: "completed" }, final: true });
}
