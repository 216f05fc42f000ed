import { MockLanguageModelV4 } from "ai/test";
import type { Task } from "../../../protocol/task.ts";
import { type EngineHarness, openHarness } from "../../../testing/engine-harness.ts";
import { type ModelAgentOptions, modelAgent } from "../model-agent.ts";
import type { ModelCall, ModelStreamPart } from "../model-contract.ts";

const USAGE = {
  inputTokens: { total: 1000, noCache: 600, cacheRead: 400, cacheWrite: 0 },
  outputTokens: { total: 100, text: 100, reasoning: 0 },
};

/** The mock of the AI SDK, which answers each call with the parts that the function returns. */
export function mockModel(answer: (call: ModelCall, count: number) => readonly ModelStreamPart[]): MockLanguageModelV4 {
  let count = 0;
  const doStream = async (call: unknown): Promise<object> => {
    // Safe cast: the loop calls it.
    const parts = answer(call as ModelCall, ++count);
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE });
          controller.close();
        },
      }),
    };
  };
  // Safe cast: the parts are those of the interface, as far as the loop reads them.
  return new MockLanguageModelV4({ doStream: doStream as never });
}

export const textPart = (delta: string): ModelStreamPart => ({ type: "text-delta", id: "t", delta });

/** Serves an agent with a model. */
export function serveModel(
  options: Partial<ModelAgentOptions> & Pick<ModelAgentOptions, "model">,
): Promise<EngineHarness> {
  return openHarness({ agents: modelAgent({ name: "Assistant", description: "Helps.", version: "1", ...options }) });
}

/** The parts of an artifact. */
export function partsOf(task: Task, name: string): readonly object[] | undefined {
  return task.artifacts?.find((artifact) => artifact.name === name)?.parts;
}
