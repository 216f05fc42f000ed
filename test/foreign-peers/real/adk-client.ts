import { randomUUID } from "node:crypto";
import { elementsOf, type Json } from "../json.ts";
import { type Answer, type Conversation, NotOffered, type Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Adk {
  readonly RemoteA2AAgent: new (options: object) => object;
  readonly InMemoryRunner: new (
    options: object,
  ) => {
    readonly sessionService: { createSession(options: object): Promise<{ readonly id: string }> };
    runAsync(options: object): AsyncIterable<Json>;
  };
}

export const ADK_PACKAGES = { "@google/adk": "2.0.0", "@a2a-js/sdk": "0.3.14", express: "5.1.0" } as const;

export const realAdkClient: RealClient = {
  name: "Google ADK",
  packages: ADK_PACKAGES,
  async load(modules) {
    const { RemoteA2AAgent, InMemoryRunner } = await modules.import<Adk>("@google/adk");
    return async (url): Promise<Conversation> => {
      const agent = new RemoteA2AAgent({ name: "remote", agentCard: url });
      const runner = new InMemoryRunner({ agent, appName: "test" });
      const session = await runner.sessionService.createSession({ appName: "test", userId: "user", id: randomUUID() });
      return {
        async turn({ text, file, mode }: Turn): Promise<Answer> {
          if (mode === "send") throw new NotOffered("a send without a stream");
          const attached = file && { inlineData: { data: file.base64, mimeType: file.mediaType } };
          const newMessage = { role: "user", parts: [{ text }, ...(attached ? [attached] : [])] };
          const kept: Json[] = [];
          let failure: string | undefined;
          for await (const event of runner.runAsync({ userId: "user", sessionId: session.id, newMessage })) {
            failure = event.errorMessage ?? failure;
            if (event.partial !== true) kept.push(...elementsOf(event.content?.parts));
          }
          const files = kept.filter(({ inlineData }) => inlineData).map(({ inlineData }) => String(inlineData.data));
          const shown = kept.map((part) => part.text ?? "").join("");
          return { text: shown, files, ...(failure !== undefined && { state: "failed" }) };
        },
      };
    };
  },
};
