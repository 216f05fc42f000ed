import type { Model, ModelRequest, ModelResponse, StreamEvent } from "@openai/agents";
import { setTracingDisabled, Usage } from "@openai/agents";
import type { PromptMessage } from "./script-server.ts";
import { scriptedAnswer, stalled } from "./scripted.ts";

setTracingDisabled(true);

/** A model of the OpenAI Agents SDK that the script server decides about. */
export const model: Model = {
  async getResponse(): Promise<ModelResponse> {
    throw new Error("The adapter streams.");
  },
  async *getStreamedResponse({ input, signal }: ModelRequest): AsyncGenerator<StreamEvent> {
    const { text = [], calls = [], stall } = await scriptedAnswer(promptMessages(input));
    yield { type: "response_started" };
    for (const delta of text) yield { type: "output_text_delta", delta };
    if (stall === true) await stalled(signal);
    yield {
      type: "response_done",
      response: {
        id: crypto.randomUUID(),
        usage: new Usage({ requests: 1, inputTokens: 10, outputTokens: 2, totalTokens: 12 }),
        output: [
          ...(text.length === 0
            ? []
            : [
                {
                  type: "message" as const,
                  role: "assistant" as const,
                  status: "completed" as const,
                  content: [{ type: "output_text" as const, text: text.join("") }],
                },
              ]),
          ...calls.map(({ id, name, input: json }) => ({
            type: "function_call" as const,
            callId: id,
            name,
            status: "completed" as const,
            arguments: json,
          })),
        ],
      },
    };
  },
};

function promptMessages(input: ModelRequest["input"]): PromptMessage[] {
  if (typeof input === "string") return [{ role: "user", text: input }];
  return input.flatMap((item): PromptMessage[] => {
    if ("role" in item && (item.role === "user" || item.role === "assistant")) {
      const { role, content } = item;
      const text =
        typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("");
      return [{ role, text }];
    }
    return item.type === "function_call_result" ? [{ role: "tool", text: JSON.stringify(item.output) }] : [];
  });
}
