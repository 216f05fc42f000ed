import { type Json, textsIn } from "../json.ts";
import { type Answer, type ClientPeer, type Conversation, cannot, NotOffered, type Turn } from "../peer.ts";
import { RpcScript } from "../rpc-script.ts";
import { userMessage } from "../user-message.ts";

const FIRST_TASK = "its result is the task event at the start of the stream, which has no artifacts yet";

/**
 * `A2AAgent`. It sends the context id, the task id only if the application names it, and references to all tasks it has
 * seen. After a task event its result is that task's artifacts, otherwise its history: later chunks are passed on as
 * `update` events only.
 */
export const beeaiClient: ClientPeer = {
  name: "BeeAI",
  package: "beeai-framework",
  version: "0.1.30",
  protocol: "0.3 JSON-RPC",
  expected: {
    "text, sent": cannot("it always streams"),
    "text, streamed": cannot(FIRST_TASK),
    "answered with a message": "works",
    "300 tokens, sent": cannot("it always streams"),
    "300 tokens, streamed": cannot(FIRST_TASK),
    "text, streamed, then a pause": cannot(FIRST_TASK),
    "question and answer": "works",
    "file to the agent": "works",
    "file from the agent": cannot(FIRST_TASK),
    "failed task": "works",
    "cancel a running task": cannot("it never cancels"),
  },
  async open(url) {
    return new BeeaiConversation(await RpcScript.open(url, { cardPath: "/.well-known/agent-card.json" }));
  },
};

class BeeaiConversation implements Conversation {
  readonly #rpc: RpcScript;
  readonly #referenceTaskIds = new Set<string>();
  #contextId: string | undefined;

  constructor(rpc: RpcScript) {
    this.#rpc = rpc;
  }

  async turn({ text, file, mode }: Turn): Promise<Answer> {
    if (mode === "send") throw new NotOffered("a send without a stream");
    const message = userMessage(
      { text, ...(file && { file }) },
      { contextId: this.#contextId, referenceTaskIds: [...this.#referenceTaskIds] },
    );
    const updates: Json[] = [];
    for await (const event of this.#rpc.stream("message/stream", { message })) {
      updates.push(event);
      const taskId: string | undefined = event.kind === "task" ? event.id : event.taskId;
      if (taskId !== undefined) this.#referenceTaskIds.add(taskId);
      this.#contextId = event.contextId ?? this.#contextId;
    }
    const task: Json = updates.findLast(({ kind }) => kind === "task");
    const results: Json[] =
      task === undefined
        ? updates.flatMap(({ status, artifact, parts }) => status?.message ?? artifact ?? (parts && { parts }) ?? [])
        : (task.artifacts ?? task.history ?? []);
    return {
      text: textsIn(results.at(-1)?.parts).join(""),
      state: updates.at(-1)?.status?.state,
      raw: JSON.stringify(updates),
    };
  }
}
