import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { elementsOf } from "../json.ts";
import { cannot, type ServerPeer } from "../peer.ts";
import { type Execution, heardIn, serveSdk } from "../sdk-server.ts";
import { type Act, ServerScript } from "../server-script.ts";

/**
 * The agent writes status messages chunk by chunk, and every turn ends with `input-required`, without a message and
 * with `final: true`. After the caller has approved a tool, the chunks themselves have `input-required`, with `final:
 * false`. A failure of the model is one more chunk. The server stops the run if the caller closes the connection before
 * the final status.
 */
export const geminiCliServer: ServerPeer = {
  name: "gemini-cli",
  package: "@google/gemini-cli-a2a-server",
  version: "0.25.2",
  protocol: "0.3 JSON-RPC",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": cannot("the agent remembers a task, not a context"),
    "question and answer": "works",
    "failed task": cannot("a failure of the model is a normal status message, and the turn ends as usual"),
    "cancel a running task": "works",
    "list of tasks": "works",
    "text, through remoteAgent": "works",
    "file, through remoteAgent": cannot("the server reads text only"),
  },
  start() {
    const script = new ServerScript();
    return serveSdk({
      cardPath: "/.well-known/agent-card.json",
      rpcPath: "/",
      card: (url) => ({
        name: "Scripted",
        description: "Does what the text of the message says.",
        url: `${url}/`,
        provider: { organization: "Example", url: "https://example.org" },
        protocolVersion: "0.3.0",
        version: "0.0.2",
        capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
        defaultInputModes: ["text"],
        defaultOutputModes: ["text"],
        skills: [
          {
            id: "code",
            name: "Code",
            description: "Code.",
            tags: ["code"],
            inputModes: ["text"],
            outputModes: ["text"],
          },
        ],
        supportsAuthenticatedExtendedCard: false,
      }),
      execute: (execution) => execute(script, execution),
      cancel: (task) => ({ ...task, status: { state: "canceled", timestamp: new Date().toISOString() } }),
    });
  },
};

async function execute(
  script: ServerScript,
  { taskId, contextId, message, task, left, publish }: Execution,
): Promise<void> {
  const timestamp = new Date().toISOString();
  const metadata = { coderAgent: { kind: "state-change" }, model: "scripted" };
  const status = (state: string, text: string | undefined, final: boolean) => {
    const parts = [{ kind: "text", text }];
    const said = { kind: "message", role: "agent", parts, messageId: randomUUID(), taskId, contextId };
    const shown = { state, timestamp, ...(text !== undefined && { message: said }) };
    publish({ kind: "status-update", taskId, contextId, status: shown, final, metadata });
  };
  if (task === undefined) {
    const submitted = { state: "submitted", timestamp };
    publish({
      kind: "task",
      id: taskId,
      contextId,
      status: submitted,
      metadata: {},
      history: [message],
      artifacts: [],
    });
  }
  const { text } = heardIn(message);
  const act = script.act({ text, fileBytes: 0, isAnswer: task !== undefined });
  if (act.kind === "work") return void (await new Promise((resolve) => left.addEventListener("abort", resolve)));
  const talking = elementsOf(message.parts).some(({ kind }) => kind === "data") ? "input-required" : "working";
  for (const piece of piecesOf(act)) status(talking, piece, false);
  await sleep(20);
  if (left.aborted) return status("input-required", "Stopped: the caller has closed the connection.", true);
  status("input-required", undefined, true);
}

function piecesOf(act: Exclude<Act, { kind: "work" }>): readonly string[] {
  if (act.kind === "fail") return [`Agent Error: ${act.reason}`];
  return act.kind === "ask" ? [act.question] : act.tokens;
}
