import { MockLanguageModelV4 } from "ai/test";
import type { PromptMessage } from "./script-server.ts";
import { scriptedAnswer, stalled } from "./scripted.ts";

type Call = Parameters<MockLanguageModelV4["doStream"]>[0];
type Part = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

/** A model of the AI SDK that the script server decides about. */
export const model = new MockLanguageModelV4({
  doStream: async (call) => ({ stream: ReadableStream.from(parts(call)) }),
});

async function* parts({ prompt, abortSignal }: Call): AsyncGenerator<Part> {
  const { text = [], calls = [], stall } = await scriptedAnswer(promptMessages(prompt));
  yield { type: "stream-start", warnings: [] };
  if (text.length > 0) yield { type: "text-start", id: "t" };
  for (const delta of text) yield { type: "text-delta", id: "t", delta };
  if (stall === true) await stalled(abortSignal);
  if (text.length > 0) yield { type: "text-end", id: "t" };
  for (const { id, name, input } of calls) yield { type: "tool-call", toolCallId: id, toolName: name, input };
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  yield {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
  };
}

function promptMessages(prompt: Call["prompt"]): PromptMessage[] {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return [];
    const texts = content.map((part) =>
      part.type === "text" ? part.text : part.type === "tool-result" ? JSON.stringify(part.output) : "",
    );
    return [{ role, text: texts.join("") }];
  });
}
