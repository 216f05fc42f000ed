import { bytesIn, elementsOf, type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, type Conversation, cannot, type Turn } from "../peer.ts";
import { RpcScript } from "../rpc-script.ts";
import { userMessage } from "../user-message.ts";

/**
 * The language model of the provider. A generated text consists of the parts of the status message and then of the
 * artifacts. The application passes the context id of the last answer. It never sends a task id, and accepts
 * `text/plain` when it does not stream.
 */
export const aiSdkClient: ClientPeer = {
  name: "AI SDK provider",
  package: "a2a-ai-provider",
  version: "0.5.0-alpha.1",
  protocol: "0.3 JSON-RPC",
  expected: {
    "text, sent": "works",
    "text, streamed": "works",
    "answered with a message": "works",
    "300 tokens, sent": "works",
    "300 tokens, streamed": "works",
    "text, streamed, then a pause": "works",
    "question and answer": "works",
    "file to the agent": "works",
    "file from the agent": "works",
    "failed task": "works",
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    return new AiSdkConversation(await RpcScript.open(url, { cardPath: "/.well-known/agent-card.json" }));
  },
};

class AiSdkConversation implements Conversation {
  readonly #rpc: RpcScript;
  #contextId: string | undefined;

  constructor(rpc: RpcScript) {
    this.#rpc = rpc;
  }

  async turn(turn: Turn): Promise<Answer> {
    const message = userMessage(turn, this.#contextId === undefined ? {} : { contextId: this.#contextId });
    return turn.mode === "send" ? this.#generate(message) : this.#stream(message);
  }

  async #generate(message: Json): Promise<Answer> {
    const configuration = { blocking: true, acceptedOutputModes: ["text/plain"] };
    const result = await this.#rpc.call("message/send", { message, configuration });
    this.#contextId = result.contextId;
    if (result.kind === "message") return { text: textsIn(result.parts).join("") };
    const parts = [
      ...elementsOf(result.status.message?.parts),
      ...elementsOf(result.artifacts).flatMap((a) => a.parts),
    ];
    return { text: textsIn(parts).join(""), files: bytesIn(parts), state: result.status.state };
  }

  async #stream(message: Json): Promise<Answer> {
    const texts: string[] = [];
    const files: string[] = [];
    let state: string | undefined;
    for await (const event of this.#rpc.stream("message/stream", { message })) {
      const parts: readonly Json[] =
        event.kind === "artifact-update"
          ? event.artifact.parts
          : event.kind === "message"
            ? event.parts
            : event.kind === "task"
              ? [...elementsOf(event.status.message?.parts), ...elementsOf(event.artifacts).flatMap((a) => a.parts)]
              : [];
      const delta = textsIn(parts);
      if (delta.length > 0) texts.push(delta.join(" "));
      files.push(...bytesIn(parts));
      if (event.kind === "status-update" && event.final === true) state = event.status.state;
    }
    return { text: texts.join(""), files, ...(state !== undefined && { state }) };
  }
}
