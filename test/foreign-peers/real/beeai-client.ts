import type { Json } from "../json.ts";
import { type Answer, type Conversation, NotOffered, type Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Agent {
  run(input: { readonly input: unknown }): Promise<Json> & {
    observe(listen: (emitter: { on(name: string, listener: (event: Json) => void): void }) => void): Promise<Json>;
  };
}

export const BEEAI_PACKAGES = {
  "beeai-framework": "0.1.30",
  "@a2a-js/sdk": "0.3.14",
  express: "5.1.0",
  zod: "3.25.76",
} as const;

export const realBeeaiClient: RealClient = {
  name: "BeeAI",
  packages: BEEAI_PACKAGES,
  async load(modules) {
    const { A2AAgent } = await modules.import<{ readonly A2AAgent: new (options: object) => Agent }>(
      "beeai-framework/adapters/a2a/agents/agent",
    );
    const { UnconstrainedMemory } = await modules.import<{ readonly UnconstrainedMemory: new () => object }>(
      "beeai-framework/memory/unconstrainedMemory",
    );
    const { UserMessage } = await modules.import<{ readonly UserMessage: new (content: unknown) => object }>(
      "beeai-framework/backend/message",
    );
    return async (url): Promise<Conversation> => {
      const agent = new A2AAgent({ url, memory: new UnconstrainedMemory() });
      return {
        async turn({ text, file, mode }: Turn): Promise<Answer> {
          if (mode === "send") throw new NotOffered("a send without a stream");
          const attached = file && { type: "file", data: file.base64, mediaType: file.mediaType, filename: file.name };
          const input = attached ? new UserMessage([{ type: "text", text }, attached]) : text;
          const updates: Json[] = [];
          const { result, event } = await agent.run({ input }).observe((emitter) => {
            emitter.on("update", ({ value }) => void updates.push(value));
          });
          return {
            text: result.text,
            raw: JSON.stringify(updates),
            ...(event.status && { state: event.status.state }),
          };
        },
      };
    };
  },
};
