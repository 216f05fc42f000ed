import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../../protocol/json.ts";
import type { Model, ModelMessage, ModelStreamPart } from "./model-contract.ts";

/** What a scripted model answers. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  /** It is streamed word by word. */
  readonly text?: string;
  readonly files?: readonly { readonly mediaType: string; readonly raw: string }[];
  readonly calls?: readonly { readonly name: string; readonly input?: JsonValue }[];
}

/** Settings of a scripted model. */
export interface ScriptedModelOptions {
  /** Milliseconds between two words. Default 0. */
  readonly pause?: number;
}

/** An estimate: English text has about 4 characters a token. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * A model that answers by a function of the messages, without a network or a key: for tests and demonstrations. The function gets the whole prompt: the last message is
 * the caller's, or has the results of the tools that it called.
 */
export function scriptedModel(
  answer: (messages: readonly ModelMessage[]) => ScriptedAnswer | Promise<ScriptedAnswer>,
  { pause = 0 }: ScriptedModelOptions = {},
): Model {
  return {
    provider: "palaver",
    modelId: "scripted",
    async doStream({ prompt, abortSignal }) {
      const parts = streamParts(prompt, await answer(prompt));
      const iterator = parts[Symbol.iterator]();
      const stream = new ReadableStream<ModelStreamPart>({
        async pull(controller) {
          const { done, value } = iterator.next();
          if (done === true) return controller.close();
          if (pause > 0 && value.type === "text-delta") await delay(pause, undefined, { signal: abortSignal });
          controller.enqueue(value);
        },
      });
      return { stream };
    },
  };
}

/** The text of a message, and of the results of tools. */
export function textOfMessage(message: ModelMessage | undefined): string {
  if (message === undefined) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map(textOfContent).join("\n");
}

function textOfContent(content: Exclude<ModelMessage["content"], string>[number]): string {
  if (content.type === "text" || content.type === "reasoning") return content.text;
  if (content.type !== "tool-result") return "";
  const { value } = content.output;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function* streamParts(
  prompt: readonly ModelMessage[],
  { reasoning, text = "", files = [], calls = [] }: ScriptedAnswer,
): Generator<ModelStreamPart, void> {
  if (reasoning !== undefined) yield { type: "reasoning-delta", id: "r", delta: reasoning };
  for (const delta of text.split(/(?<=\s)(?=\S)/)) if (delta !== "") yield { type: "text-delta", id: "t", delta };
  for (const { mediaType, raw } of files) yield { type: "file", mediaType, data: { type: "data", data: raw } };
  for (const [index, { name, input = {} }] of calls.entries())
    yield { type: "tool-call", toolCallId: `call-${index + 1}`, toolName: name, input: JSON.stringify(input) };
  const length = prompt.reduce((total, message) => total + textOfMessage(message).length, 0);
  const total = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
  yield {
    type: "finish",
    usage: {
      inputTokens: { total: total(length), cacheRead: undefined },
      outputTokens: { total: total(text.length), reasoning: undefined },
    },
  };
}
