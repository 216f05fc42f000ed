import { randomUUID } from "node:crypto";
import { bytesIn, elementsOf, type Json, textsIn } from "../json.ts";
import type { Answer, Conversation, Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Agent {
  generate(text: string, options: object): Promise<Json>;
  resumeGenerate(data: string, options: object): Promise<Json>;
  stream(text: string, options: object): Promise<{ getResult(): Promise<Json> }>;
  resumeStream(data: string, options: object): Promise<{ getResult(): Promise<Json> }>;
}

export const realMastraClient: RealClient = {
  name: "Mastra",
  packages: { "@mastra/core": "1.71.0" },
  async load(modules) {
    const { A2AAgent } = await modules.import<{ readonly A2AAgent: new (options: object) => Agent }>(
      "@mastra/core/a2a",
    );
    return async (url): Promise<Conversation> => {
      const agent = new A2AAgent({ url });
      let suspended: string | undefined;
      return {
        async turn({ text, mode }: Turn): Promise<Answer> {
          const runId = suspended ?? randomUUID();
          const isResumed = suspended !== undefined;
          suspended = undefined;
          const options = { runId };
          const result =
            mode === "send"
              ? await (isResumed ? agent.resumeGenerate(text, options) : agent.generate(text, options))
              : await (await (isResumed ? agent.resumeStream(text, options) : agent.stream(text, options))).getResult();
          const { task } = result;
          if (result.finishReason === "suspended") suspended = runId;
          const files = bytesIn(elementsOf(task?.artifacts).flatMap(({ parts }) => parts));
          const question = textsIn(result.suspendPayload?.task?.status.message?.parts).join("\n");
          return { text: result.text || question, files, ...(task && { state: task.status.state }) };
        },
      };
    };
  },
};
