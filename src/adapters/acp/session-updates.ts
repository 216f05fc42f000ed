import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

const MAX_TEXT = 2000;

/** Turns the updates of a session into events of the task, one after the other. */
export class SessionUpdates {
  readonly #task: TaskContext;
  readonly #showReasoning: boolean;
  readonly #reported = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #cost = 0;

  constructor(task: TaskContext, showReasoning: boolean) {
    this.#task = task;
    this.#showReasoning = showReasoning;
  }

  /** Resolves when the update is written, so that a program that reports without end is slowed down. */
  add(update: SessionUpdate): Promise<void> {
    this.#work = this.#work.then(() => this.#write(update));
    return this.#work;
  }

  /** Resolves when all updates are written. Rejects with the first error. */
  settled(): Promise<void> {
    return this.#work;
  }

  async #write(update: SessionUpdate): Promise<void> {
    const task = this.#task;
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return task.write(partOf(update.content));
      case "agent_thought_chunk":
        return this.#showReasoning ? task.artifact("reasoning").write(partOf(update.content)) : undefined;
      case "tool_call":
        await this.#begin(update.toolCallId, update.title, update.rawInput);
        return this.#end(update);
      case "tool_call_update":
        await this.#begin(update.toolCallId, update.title ?? "tool", update.rawInput);
        return this.#end(update);
      case "plan": {
        const done = update.entries.filter(({ status }) => status === "completed").length;
        const current = update.entries.find(({ status }) => status === "in_progress")?.content;
        const text = `Plan: ${done} of ${update.entries.length} done${current === undefined ? "" : `; now: ${current}`}`;
        return task.status(text.slice(0, MAX_TEXT));
      }
      case "usage_update": {
        const { amount = 0 } = update.cost ?? {};
        const more = amount - this.#cost;
        if (!(more > 0)) return undefined;
        this.#cost = amount;
        return task.usage({ cost: more });
      }
      default:
        return undefined;
    }
  }

  async #begin(id: string, title: string, input: unknown): Promise<void> {
    if (this.#reported.has(id)) return;
    this.#reported.add(id);
    await this.#task.toolCall({
      id,
      name: title.slice(0, MAX_TEXT) || "tool",
      ...(input !== undefined && { input: jsonOf(input) }),
    });
  }

  async #end(update: Finished): Promise<void> {
    const { toolCallId: id, status, content, rawOutput } = update;
    const output = rawOutput === undefined ? textIn(content ?? []) : jsonOf(rawOutput);
    if (status === "completed") await this.#task.toolResult({ id, output });
    if (status === "failed") await this.#task.toolResult({ id, error: textIn(content ?? []) || "The tool failed." });
  }
}

interface Finished {
  readonly toolCallId: string;
  readonly status?: string | null | undefined;
  readonly content?: readonly ToolCallContent[] | null | undefined;
  readonly rawOutput?: unknown;
}

export function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "image":
    case "audio":
      return { raw: block.data, mediaType: block.mimeType };
    case "resource_link":
      return { text: block.uri };
    case "resource":
      return "text" in block.resource
        ? { text: block.resource.text }
        : { raw: block.resource.blob, ...(block.resource.mimeType != null && { mediaType: block.resource.mimeType }) };
  }
}

function textIn(content: readonly ToolCallContent[]): string {
  const texts = content.map((entry) => {
    if (entry.type === "diff") return `Changed ${entry.path}`;
    return entry.type === "content" && entry.content.type === "text" ? entry.content.text : "";
  });
  return texts.join("\n").slice(0, MAX_TEXT);
}

function jsonOf(value: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(value);
  // Safe cast: `JSON.parse` returns a JSON value.
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
