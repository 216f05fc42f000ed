import { randomUUID } from "node:crypto";
import { elementsOf, type Json } from "../json.ts";
import type { Answer, ClientPeer, Conversation, Turn } from "../peer.ts";
import { eventsOf } from "../rpc-script.ts";

const HEADERS = { "A2A-Version": "1.0", "Content-Type": "application/a2a+json" };

/**
 * `A2AClient` and its runtime. It uses REST at the agent's address, and converts states and roles to lower case. It
 * sends the id of an unfinished task, and the context id. The text is the status message followed by the collected
 * artifacts.
 */
export const assistantUiClient: ClientPeer = {
  name: "assistant-ui",
  package: "@assistant-ui/react-a2a",
  version: "0.2.32",
  protocol: "1.0 REST",
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
    "cancel a running task": "works",
  },
  async open(url) {
    const response = await fetch(`${url}/.well-known/agent-card.json`, {
      headers: { Accept: "application/a2a+json, application/json", "A2A-Version": "1.0" },
    });
    const card: Json = await response.json();
    if (typeof card.name !== "string" || card.name === "") throw new Error("The response is not a card.");
    return new AssistantUiConversation(url);
  },
};

class AssistantUiConversation implements Conversation {
  readonly #url: string;
  #task: Json;
  #contextId: string | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async turn({ text, file, mode }: Turn): Promise<Answer> {
    const attached = file && { raw: file.base64, mediaType: file.mediaType, filename: file.name };
    const message = this.#message([{ text }, ...(attached ? [attached] : [])]);
    if (mode === "stream") return this.#read(await this.#post("message:stream", { message }, "text/event-stream"));
    const response = await this.#post("message:send", { message }, "application/a2a+json, application/json");
    const { task, message: reply }: Json = await response.json();
    if (reply !== undefined) return answerOf(reply.parts, undefined);
    this.#keep(task);
    return answerOf(shownParts(task), stateOf(task.status));
  }

  async cancel(text: string): Promise<string> {
    const message = this.#message([{ text }]);
    for await (const data of eventsOf(await this.#post("message:stream", { message }, "text/event-stream"))) {
      const id: string = JSON.parse(data).task?.id ?? JSON.parse(data).statusUpdate.taskId;
      const response = await this.#post(`tasks/${id}:cancel`, {}, "application/a2a+json, application/json");
      const { status }: Json = await response.json();
      return stateOf(status);
    }
    throw new Error("The stream had no event.");
  }

  async #read(response: Response): Promise<Answer> {
    let status: Json;
    let reply: Json;
    const artifacts = new Map<string, Json[]>();
    for await (const data of eventsOf(response)) {
      const { task, message, statusUpdate, artifactUpdate }: Json = JSON.parse(data);
      if (message !== undefined) reply = message;
      if (task !== undefined) this.#keep(task);
      status = task?.status ?? statusUpdate?.status ?? status;
      if (statusUpdate !== undefined) this.#keep({ id: statusUpdate.taskId, ...statusUpdate });
      if (artifactUpdate === undefined) continue;
      const { artifactId, parts } = artifactUpdate.artifact;
      artifacts.set(artifactId, [...(artifactUpdate.append ? (artifacts.get(artifactId) ?? []) : []), ...parts]);
    }
    if (reply !== undefined) return answerOf(reply.parts, undefined);
    return answerOf([...elementsOf(status.message?.parts), ...[...artifacts.values()].flat()], stateOf(status));
  }

  #message(parts: readonly Json[]): Json {
    const isOpen = this.#task !== undefined && !/completed|failed|canceled|rejected/.test(stateOf(this.#task.status));
    return {
      messageId: randomUUID(),
      role: "ROLE_USER",
      parts,
      ...(this.#contextId !== undefined && { contextId: this.#contextId }),
      ...(isOpen && { taskId: this.#task.id }),
    };
  }

  #keep(task: Json): void {
    this.#task = task;
    this.#contextId = task.contextId;
  }

  async #post(path: string, body: object, accept: string): Promise<Response> {
    const headers = { ...HEADERS, Accept: accept };
    const response = await fetch(`${this.#url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
    return response;
  }
}

function stateOf(status: Json): string {
  return String(status.state).replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
}

function shownParts(task: Json): readonly Json[] {
  return [...elementsOf(task.status.message?.parts), ...elementsOf(task.artifacts).flatMap(({ parts }) => parts)];
}

function answerOf(parts: readonly Json[], state: string | undefined): Answer {
  const files = parts.filter(({ raw }) => raw !== undefined).map(({ raw }) => String(raw));
  return { text: parts.map(({ text }) => text ?? "").join(""), files, ...(state !== undefined && { state }) };
}
