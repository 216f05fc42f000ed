import type { Json } from "../json.ts";
import { type Answer, type Conversation, NotOffered, type Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Strands {
  readonly A2AAgent: new (options: { readonly url: string }) => { stream(text: string): AsyncGenerator<Json, Json> };
}

export const STRANDS_PACKAGES = {
  "@strands-agents/sdk": "1.19.0",
  "@a2a-js/sdk": "0.3.14",
  "@modelcontextprotocol/sdk": "1.26.0",
  "@opentelemetry/api": "1.9.0",
  express: "5.1.0",
  zod: "4.1.12",
} as const;

export const realStrandsClient: RealClient = {
  name: "Strands Agents",
  packages: STRANDS_PACKAGES,
  async load(modules) {
    const { A2AAgent } = await modules.import<Strands>("@strands-agents/sdk/a2a");
    return async (url): Promise<Conversation> => {
      const agent = new A2AAgent({ url });
      return {
        async turn({ text, mode }: Turn): Promise<Answer> {
          if (mode === "send") throw new NotOffered("a send without a stream");
          const events = agent.stream(text);
          let state: string | undefined;
          for (;;) {
            const { done, value } = await events.next();
            if (!done) state = value.event?.status?.state ?? state;
            else return { text: value.lastMessage.content[0].text, ...(state !== undefined && { state }) };
          }
        },
      };
    };
  },
};
