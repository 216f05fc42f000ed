import { randomUUID } from "node:crypto";
import { type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, type Conversation, cannot, NotOffered, type Turn } from "../peer.ts";
import { RpcScript } from "../rpc-script.ts";
import { userMessage } from "../user-message.ts";

const RAW = "it passes on artifacts as raw events, and shows only the text of messages";

/**
 * `A2AAgent`. The context id is the application's thread id; it never sends a task id. It streams, and shows the text
 * of messages and of status messages; artifacts and tasks become raw events, and a status without a message is dropped.
 */
export const agUiClient: ClientPeer = {
  name: "AG-UI",
  package: "@ag-ui/a2a",
  version: "0.0.6",
  protocol: "0.2 JSON-RPC",
  expected: {
    "text, sent": cannot("it always streams if the agent can"),
    "text, streamed": cannot(RAW),
    "answered with a message": "works",
    "300 tokens, sent": cannot("it always streams if the agent can"),
    "300 tokens, streamed": cannot(RAW),
    "text, streamed, then a pause": cannot(RAW),
    "question and answer": "works",
    "file to the agent": "works",
    "file from the agent": cannot(RAW),
    "failed task": cannot("it shows the failure message as normal text, without a state"),
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    const extensions = { "x-a2a-extensions": "https://a2ui.org/a2a-extension/a2ui/v0.8" };
    const rpc = await RpcScript.open(url, { cardPath: "/.well-known/agent.json", headers: extensions });
    return new AgUiConversation(rpc);
  },
};

class AgUiConversation implements Conversation {
  readonly #rpc: RpcScript;
  readonly #thread: string = randomUUID();

  constructor(rpc: RpcScript) {
    this.#rpc = rpc;
  }

  async turn({ text, file, mode }: Turn): Promise<Answer> {
    if (mode === "send") throw new NotOffered("a send without a stream");
    const message = userMessage({ text: text.trim(), ...(file && { file }) }, { contextId: this.#thread });
    const params = { message, configuration: { acceptedOutputModes: ["text"] } };
    const texts: string[] = [];
    const raw: Json[] = [];
    for await (const event of this.#rpc.stream("message/stream", params)) {
      if (event.kind === "message") texts.push(...textsIn(event.parts));
      else if (event.kind === "status-update") texts.push(...textsIn(event.status.message?.parts));
      else raw.push(event);
    }
    return { text: texts.join(""), raw: JSON.stringify(raw) };
  }
}
