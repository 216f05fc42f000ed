import { randomUUID } from "node:crypto";
import { cannot, type ServerPeer } from "../peer.ts";
import { type Execution, heardIn, serveSdk } from "../sdk-server.ts";
import { ServerScript } from "../server-script.ts";

/**
 * `toA2a`. All chunks have `append: true`, the first too; at the end the whole text comes again and replaces them. A
 * question is a function call in a data part, and only the function's response in a data part answers it.
 */
export const adkServer: ServerPeer = {
  name: "Google ADK",
  package: "@google/adk",
  version: "2.0.0",
  protocol: "0.3 JSON-RPC",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": "works",
    "question and answer": cannot("it asks with a function call, which only a function response answers"),
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
      rpcPath: "/jsonrpc",
      card,
      execute: (execution) => execute(script, execution),
      cancel() {
        throw new Error("Cancellation is not supported.");
      },
    });
  },
};

function card(url: string): object {
  const interfaces = [
    { url: `${url}/jsonrpc`, transport: "JSONRPC" },
    { url: `${url}/rest`, transport: "HTTP+JSON" },
  ];
  return {
    name: "scripted",
    description: "",
    protocolVersion: "0.3.0",
    version: "1.0.0",
    skills: [{ id: "scripted", name: "custom", description: "A custom agent", tags: ["custom_agent"] }],
    url: `${url}/jsonrpc`,
    preferredTransport: "JSONRPC",
    capabilities: { extensions: [], stateTransitionHistory: false, pushNotifications: false, streaming: true },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text"],
    additionalInterfaces: interfaces,
  };
}

async function execute(
  script: ServerScript,
  { taskId, contextId, message, task, left, publish }: Execution,
): Promise<void> {
  const timestamp = new Date().toISOString();
  const status = (state: string, more: object, final: boolean) =>
    publish({ kind: "status-update", taskId, contextId, status: { state, timestamp, ...more }, final, metadata: {} });
  const say = (parts: readonly object[]) => ({
    message: { kind: "message", messageId: randomUUID(), role: "agent", parts, taskId, contextId },
  });
  if (task?.status.state === "input-required") {
    const missing = { kind: "text", text: "The function call has no input.", metadata: { validation_error: true } };
    return status("input-required", say([missing]), true);
  }
  if (task === undefined) {
    publish({ kind: "task", id: taskId, contextId, history: [message], status: { state: "submitted", timestamp } });
  }
  status("working", {}, false);
  const act = script.act({ ...heardIn(message), conversation: contextId });
  const artifact = (artifactId: string, text: string, partial: boolean) =>
    publish({
      kind: "artifact-update",
      taskId,
      contextId,
      append: partial,
      lastChunk: !partial,
      artifact: {
        artifactId,
        parts: [{ kind: "text", text }],
        metadata: { adk_author: "scripted", adk_partial: partial },
      },
    });
  if (act.kind === "fail") status("failed", say([{ kind: "text", text: act.reason }]), true);
  else if (act.kind === "ask") {
    const call = { id: "call-1", name: "ask_user", args: { question: act.question } };
    const metadata = { adk_type: "function_call", adk_is_long_running: true };
    status("input-required", say([{ kind: "data", data: call, metadata }]), true);
  } else if (act.kind === "work") {
    await new Promise((resolve) => left.addEventListener("abort", resolve));
  } else {
    const artifactId = randomUUID();
    for (const token of act.tokens) artifact(artifactId, token, true);
    artifact(artifactId, act.tokens.join(""), false);
    status("completed", {}, true);
  }
}
