import { type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, cannot, NotOffered, type Turn } from "../peer.ts";
import { RpcScript } from "../rpc-script.ts";
import { userMessage } from "../user-message.ts";

/**
 * `A2AAgent`. Its result is the text of the last event it treats as complete (a task, a message, a last chunk, a
 * completed status), or, if that has no text, of all chunks. Parts of one event are joined by line breaks, chunks are
 * concatenated.
 */
export const strandsClient: ClientPeer = {
  name: "Strands Agents",
  package: "@strands-agents/sdk",
  version: "1.19.0",
  protocol: "0.3 JSON-RPC",
  expected: {
    "text, sent": cannot("it always streams"),
    "text, streamed": "works",
    "answered with a message": "works",
    "300 tokens, sent": cannot("it always streams"),
    "300 tokens, streamed": "works",
    "text, streamed, then a pause": "works",
    "question and answer": cannot("it sends neither a context nor a task id, so every message starts a new task"),
    "file to the agent": cannot("it sends text only"),
    "file from the agent": cannot("it reads text only"),
    "failed task": "works",
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    const rpc = await RpcScript.open(url, { cardPath: "/.well-known/agent-card.json" });
    return {
      async turn({ text, mode }: Turn): Promise<Answer> {
        if (mode === "send") throw new NotOffered("a send without a stream");
        return read(rpc.stream("message/stream", { message: userMessage({ text }) }));
      },
    };
  },
};

async function read(events: AsyncIterable<Json>): Promise<Answer> {
  const chunks = new Map<string, string[]>();
  let last: Json;
  let complete: Json;
  for await (const event of events) {
    last = event;
    if (isComplete(event)) complete = event;
    if (event.kind !== "artifact-update") continue;
    const { artifactId, parts } = event.artifact;
    const text = textsIn(parts).join("\n");
    chunks.set(artifactId, [...(event.append === true ? (chunks.get(artifactId) ?? []) : []), text]);
  }
  const collected = [...chunks.values()].map((texts) => texts.join("")).join("\n");
  return { text: textOfEvent(complete ?? last) || collected, state: last?.status?.state };
}

function isComplete({ kind, lastChunk, status }: Json): boolean {
  if (kind === "artifact-update") return lastChunk === true;
  return kind === "status-update" ? status.state === "completed" : true;
}

function textOfEvent(event: Json): string {
  if (event.kind === "artifact-update") return textsIn(event.artifact.parts).join("\n");
  if (event.kind === "message") return textsIn(event.parts).join("\n");
  const artifacts: Json[] = event.artifacts ?? [];
  return textsIn(artifacts.flatMap(({ parts }) => parts)).join("\n") || textsIn(event.status.message?.parts).join("\n");
}
