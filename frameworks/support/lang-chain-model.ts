import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel, type BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { PromptMessage } from "./script-server.ts";
import { scriptedAnswer, stalled } from "./scripted.ts";

/** A model of LangChain that the script server decides about. */
class ScriptedModel extends BaseChatModel {
  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[], options: BaseChatModelCallOptions): Promise<ChatResult> {
    let message = new AIMessageChunk("");
    for await (const chunk of this._streamResponseChunks(messages, options))
      message = message.concat(chunk.message as AIMessageChunk);
    return { generations: [{ text: String(message.content), message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: BaseChatModelCallOptions,
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text = [], calls = [], stall } = await scriptedAnswer(messages.flatMap(promptMessage));
    for (const piece of text) {
      const chunk = new ChatGenerationChunk({ text: piece, message: new AIMessageChunk({ content: piece }) });
      yield chunk;
      await run?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
    if (stall === true) await stalled(options.signal);
    for (const [index, { id, name, input }] of calls.entries()) {
      // As real providers do: the input comes in pieces, and the id and the name only with the first.
      const half = Math.ceil(input.length / 2);
      yield* this.#chunk(
        { tool_call_chunks: [{ type: "tool_call_chunk", index, id, name, args: input.slice(0, half) }] },
        run,
      );
      yield* this.#chunk({ tool_call_chunks: [{ type: "tool_call_chunk", index, args: input.slice(half) }] }, run);
    }
    yield* this.#chunk({ usage_metadata: { input_tokens: 10, output_tokens: 2, total_tokens: 12 } }, run);
  }

  async *#chunk(
    fields: Partial<ConstructorParameters<typeof AIMessageChunk>[0] & object>,
    run: CallbackManagerForLLMRun | undefined,
  ): AsyncGenerator<ChatGenerationChunk> {
    const chunk = new ChatGenerationChunk({ text: "", message: new AIMessageChunk({ content: "", ...fields }) });
    yield chunk;
    await run?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk });
  }
}

export const model = new ScriptedModel({ maxRetries: 0 });

const ROLES = new Map<string, PromptMessage["role"]>([
  ["human", "user"],
  ["ai", "assistant"],
  ["tool", "tool"],
]);

function promptMessage(message: BaseMessage): PromptMessage[] {
  const role = ROLES.get(message.getType());
  return role === undefined ? [] : [{ role, text: message.text }];
}
