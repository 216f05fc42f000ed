import type { JsonValue } from "../../protocol/json.ts";
import type { FrameworkEvent } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { LangGraphMessage } from "./graph.ts";

interface CallPieces {
  id: string;
  name: string;
  args: string;
}

/** Translates the messages in the stream of a graph: pieces of text, tool calls that may come in pieces, and the results of tools. */
export class MessageReader {
  /** The message of a model that is being read. */
  #current: string | undefined;
  readonly #counted = new Set<string>();
  /** Tool calls whose input is not complete. */
  readonly #pieces = new Map<string, CallPieces>();

  /** The events of a message or of a piece of one. */
  *read(message: LangGraphMessage): Generator<FrameworkEvent> {
    const type = message.getType();
    if (type === "tool") {
      yield* this.complete();
      yield toolOutcome(message);
    } else if (type === "ai") yield* this.#model(message);
  }

  /** The tool calls whose input is complete now, because their node has finished. */
  *complete(): Generator<FrameworkEvent> {
    for (const { id, name, args } of this.#pieces.values())
      yield { kind: "tool-call", id, name, input: parsed(args === "" ? "{}" : args) };
    this.#pieces.clear();
  }

  *#model(message: LangGraphMessage): Generator<FrameworkEvent> {
    const { id = "", content, tool_calls = [], tool_call_chunks, usage_metadata: usage } = message;
    if (id !== this.#current) yield { kind: "message" };
    this.#current = id;
    const text = textOfContent(content);
    if (text !== "") yield { kind: "text", text };
    if (tool_call_chunks !== undefined) this.#collect(id, tool_call_chunks);
    else
      for (const call of tool_calls)
        yield { kind: "tool-call", id: call.id ?? "", name: call.name, input: jsonOf(call.args) };
    if (usage === undefined) return;
    const isFirst = !this.#counted.has(id);
    this.#counted.add(id);
    yield {
      kind: "usage",
      usage: {
        ...counter("inputTokens", usage.input_tokens),
        ...counter("outputTokens", usage.output_tokens),
        ...counter("cachedInputTokens", usage.input_token_details?.cache_read),
        ...counter("reasoningTokens", usage.output_token_details?.reasoning),
        modelCalls: isFirst ? 1 : 0,
      },
    };
  }

  #collect(message: string, chunks: NonNullable<LangGraphMessage["tool_call_chunks"]>): void {
    for (const { index = 0, id = "", name = "", args = "" } of chunks) {
      const key = `${message}/${index}`;
      const pieces = this.#pieces.get(key) ?? { id: "", name: "", args: "" };
      this.#pieces.set(key, { id: pieces.id || id, name: pieces.name + name, args: pieces.args + args });
    }
  }
}

function toolOutcome({ tool_call_id: id = "", status, content }: LangGraphMessage): FrameworkEvent {
  const text = textOfContent(content);
  if (status === "error") return { kind: "tool-failure", id, error: text };
  return { kind: "tool-result", id, output: parsed(text) };
}

/** The text of a message; other content is left out. */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) =>
      typeof block === "object" && block !== null && "text" in block && typeof block.text === "string"
        ? block.text
        : "",
    )
    .join("");
}

/** The JSON value; the text itself if it is not JSON, because tools may return text and models may write invalid JSON. */
function parsed(text: string): JsonValue {
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function counter(name: string, value: number | undefined): Readonly<Record<string, number>> {
  return value === undefined ? {} : { [name]: value };
}
