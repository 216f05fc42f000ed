import { randomUUID } from "node:crypto";
import { bytesIn, elementsOf, type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, type Conversation, cannot, NotOffered, type Turn } from "../peer.ts";
import { RpcScript } from "../rpc-script.ts";

const STREAMS = "it streams from every agent unless the card forbids it";

/**
 * `RemoteA2AAgent`. It keeps complete events and drops partial ones, so text counts only after `lastChunk: true`. A
 * final status without a message makes it drop the collected text. It takes the context id from the metadata of its own
 * last complete event, and never sends a task id.
 */
export const adkClient: ClientPeer = {
  name: "Google ADK",
  package: "@google/adk",
  version: "2.0.0",
  protocol: "0.3 JSON-RPC",
  expected: {
    "text, sent": cannot(STREAMS),
    "text, streamed": "works",
    "answered with a message": "works",
    "300 tokens, sent": cannot(STREAMS),
    "300 tokens, streamed": "works",
    "text, streamed, then a pause": "works",
    "question and answer": cannot(
      "before the answer it shows the task at the start of the stream, whose question is still open",
    ),
    "file to the agent": "works",
    "file from the agent": "works",
    "failed task": "works",
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    const rpc = await RpcScript.open(url, { cardPath: "/.well-known/agent-card.json" });
    return new AdkConversation(rpc);
  },
};

class AdkConversation implements Conversation {
  readonly #rpc: RpcScript;
  readonly #session: string = randomUUID();
  #contextId: string | undefined;

  constructor(rpc: RpcScript) {
    this.#rpc = rpc;
  }

  async turn({ text, file, mode }: Turn): Promise<Answer> {
    if (mode === "send") throw new NotOffered("a send without a stream");
    const attached = file && { kind: "file", file: { bytes: file.base64, mimeType: file.mediaType }, metadata: {} };
    const message = {
      kind: "message",
      messageId: randomUUID(),
      role: "user",
      parts: [{ kind: "text", text }, ...(attached ? [attached] : [])],
      metadata: { adk_app_name: "test", adk_user_id: "user", adk_session_id: this.#session },
      ...(this.#contextId !== undefined && { contextId: this.#contextId }),
    };
    const kept: Json[] = [];
    let failure: string | undefined;
    const chunks = new Map<string, Json[]>();
    for await (const event of this.#rpc.stream("message/stream", { message })) {
      const parts: Json[] = partsOf(event);
      const isProgress = event.kind === "status-update" && event.final !== true;
      if (parts.length === 0 || isProgress) continue;
      if (event.kind === "artifact-update") {
        const { artifactId } = event.artifact;
        const collected = event.append === true ? (chunks.get(artifactId) ?? []) : [];
        chunks.set(artifactId, [...collected, ...parts]);
        if (event.lastChunk !== true) continue;
        kept.push(...(chunks.get(artifactId) ?? []));
        this.#contextId = event.contextId;
      } else if (event.status?.state === "failed") {
        failure = textsIn(parts)[0];
      } else {
        kept.push(...parts);
        this.#contextId = event.taskId === undefined ? this.#contextId : event.contextId;
      }
    }
    const state = failure === undefined ? {} : { state: "failed" };
    return { text: textsIn(kept).join(""), files: bytesIn(kept), ...state };
  }
}

function partsOf(event: Json): Json[] {
  if (event.kind === "message") return event.parts;
  if (event.kind === "artifact-update") return event.artifact.parts;
  const status: Json[] = event.status.message?.parts ?? [];
  if (event.kind === "status-update") return status;
  return [...elementsOf(event.artifacts).flatMap((artifact) => artifact.parts), ...status];
}
