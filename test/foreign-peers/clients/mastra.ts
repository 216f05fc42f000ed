import { setTimeout as sleep } from "node:timers/promises";
import { bytesIn, elementsOf, type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, type Conversation, cannot, type Turn } from "../peer.ts";
import { artifactTexts, RpcScript } from "../rpc-script.ts";
import { userMessage } from "../user-message.ts";

/**
 * `A2AAgent`. A generated text is all text parts of all artifacts and of the status message, joined by line breaks; a
 * streamed text is the text parts of the artifacts, concatenated. It polls a task while it is working, and answers a
 * question with the task's id and context id.
 */
export const mastraClient: ClientPeer = {
  name: "Mastra",
  package: "@mastra/core",
  version: "1.71.0",
  protocol: "0.3 JSON-RPC",
  expected: {
    "text, sent": "works",
    "text, streamed": "works",
    "answered with a message": "works",
    "300 tokens, sent": "works",
    "300 tokens, streamed": "works",
    "text, streamed, then a pause": "works",
    "question and answer": "works",
    "file to the agent": cannot("it sends the file's name in the text, not the file"),
    "file from the agent": "works",
    "failed task": "works",
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    return new MastraConversation(await RpcScript.open(url, { cardPath: "/.well-known/agent-card.json" }));
  },
};

class MastraConversation implements Conversation {
  readonly #rpc: RpcScript;
  #waiting: { readonly taskId: string; readonly contextId: string } | undefined;

  constructor(rpc: RpcScript) {
    this.#rpc = rpc;
  }

  async turn({ text, mode }: Turn): Promise<Answer> {
    const message = userMessage({ text }, this.#waiting);
    this.#waiting = undefined;
    return mode === "send" ? this.#generate(message) : this.#stream(message);
  }

  async #generate(message: Json): Promise<Answer> {
    let result = await this.#rpc.call("message/send", { message });
    if ("messageId" in result) return { text: textsIn(result.parts).join("\n").trim() };
    while (result.status.state === "submitted" || result.status.state === "working") {
      await sleep(20);
      result = await this.#rpc.call("tasks/get", { id: result.id });
    }
    const status = textsIn(result.status.message?.parts).join("\n").trim();
    const text = [artifactTexts(result).join("\n"), status].filter(Boolean).join("\n").trim();
    return this.#answer(result, text);
  }

  async #stream(message: Json): Promise<Answer> {
    let task: Json;
    let text = "";
    for await (const event of this.#rpc.stream("message/stream", { message })) {
      if (event.kind === "task") task = event;
      else if (event.kind === "message") text = textsIn(event.parts).join("\n").trim();
      else if (event.kind === "status-update") task = { ...task, status: event.status };
      else {
        const { artifactId, parts } = event.artifact;
        const artifacts = elementsOf(task.artifacts);
        const known: Json = artifacts.find((artifact) => artifact.artifactId === artifactId);
        const updated = { ...event.artifact, parts: event.append && known ? [...known.parts, ...parts] : parts };
        task = { ...task, artifacts: [...artifacts.filter((artifact) => artifact !== known), updated] };
        text = artifactTexts(task).join("");
      }
    }
    if (task === undefined) return { text };
    return this.#answer(task, text || textsIn(task.status.message?.parts).join("\n"));
  }

  #answer(task: Json, text: string): Answer {
    if (task.status.state === "input-required") this.#waiting = { taskId: task.id, contextId: task.contextId };
    const files = bytesIn(elementsOf(task.artifacts).flatMap(({ parts }) => parts));
    return { text, files, state: task.status.state };
  }
}
