import { randomUUID } from "node:crypto";
import { cannot, type ServerPeer } from "../peer.ts";
import { type Execution, heardIn, serveSdk } from "../sdk-server.ts";
import { ServerScript } from "../server-script.ts";

/**
 * `A2AServer`. The card says version 0.1.0, but the server supports only the methods of 0.2 and later (`message/send`).
 * The task comes twice and carries the answer in its history and in the final status; updates in between may have
 * another task id. There are no artifacts.
 */
export const beeaiServer: ServerPeer = {
  name: "BeeAI",
  package: "beeai-framework",
  version: "0.1.30",
  protocol: "0.3 JSON-RPC, card of 0.1",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": cannot("the agent receives only the messages of its task"),
    "question and answer": cannot("the server has no questions"),
    "failed task": "works",
    "cancel a running task": "works",
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
        description: "Does what the text of the message says.",
        url,
        version: "1.0.0",
        protocolVersion: "0.1.0",
        defaultInputModes: ["text"],
        defaultOutputModes: ["text", "task-status"],
        capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
        skills: [{ id: "scripted", name: "scripted", description: "Does what the text says.", tags: [] }],
        supportsAuthenticatedExtendedCard: false,
      }),
      execute: (execution) => execute(script, execution),
      cancel: (task) => ({ ...task, status: { state: "canceled", timestamp: new Date().toISOString() } }),
    });
  },
};

async function execute(script: ServerScript, { taskId, message, left, publish }: Execution): Promise<void> {
  const timestamp = new Date().toISOString();
  const id = randomUUID();
  const { contextId } = message;
  const task = { kind: "task", id, contextId, status: { state: "submitted", timestamp }, history: [message] };
  publish(task);
  publish({ kind: "status-update", taskId: id, contextId, status: { state: "working", timestamp }, final: false });
  const say = (text: string) => ({
    kind: "message",
    role: "agent",
    messageId: randomUUID(),
    parts: [{ kind: "text", text }],
    taskId: id,
    contextId,
  });
  const act = script.act(heardIn(message));
  if (act.kind === "work") return void (await new Promise((resolve) => left.addEventListener("abort", resolve)));
  if (act.kind === "fail") {
    const status = { state: "failed", message: say(act.reason), timestamp };
    return publish({ kind: "status-update", taskId: id, contextId, status, final: true });
  }
  const answer = say(act.kind === "ask" ? act.question : act.tokens.join(""));
  const progress = { state: "working", message: { ...say("{}"), taskId }, timestamp };
  publish({ kind: "status-update", taskId, contextId, status: progress, final: false });
  publish({ ...task, history: [message, answer] });
  const status = { state: "completed", message: answer, timestamp };
  publish({ kind: "status-update", taskId: id, contextId, status, final: true });
}
