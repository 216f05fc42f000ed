import { randomUUID } from "node:crypto";
import type { Json } from "../json.ts";
import { type Answer, type Conversation, NotOffered, type Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface AgUi {
  readonly A2AAgent: new (options: {
    readonly a2aClient: object;
  }) => {
    run(input: object): {
      subscribe(observer: { next(event: Json): void; error(error: unknown): void; complete(): void }): void;
    };
  };
}

export const realAgUiClient: RealClient = {
  name: "AG-UI",
  packages: {
    "@ag-ui/a2a": "0.0.6",
    "@ag-ui/client": "1.0.0",
    "@ag-ui/core": "1.0.0",
    "@a2a-js/sdk": "0.2.5",
    rxjs: "7.8.2",
  },
  async load(modules) {
    const { A2AAgent } = await modules.import<AgUi>("@ag-ui/a2a");
    const { A2AClient } = await modules.import<{ readonly A2AClient: new (url: string) => object }>(
      "@a2a-js/sdk/client",
    );
    return async (url): Promise<Conversation> => {
      const agent = new A2AAgent({ a2aClient: new A2AClient(url) });
      const threadId = randomUUID();
      return {
        async turn({ text, file, mode }: Turn): Promise<Answer> {
          if (mode === "send") throw new NotOffered("a send without a stream");
          const attached = file && { type: "binary", data: file.base64, mimeType: file.mediaType, filename: file.name };
          const content = attached ? [{ type: "text", text }, attached] : text;
          const messages = [{ id: randomUUID(), role: "user", content }];
          const input = {
            threadId,
            runId: randomUUID(),
            messages,
            tools: [],
            context: [],
            state: {},
            forwardedProps: {},
          };
          const events = await new Promise<readonly Json[]>((resolve, reject) => {
            const seen: Json[] = [];
            agent.run(input).subscribe({
              next: (event) => void seen.push(event),
              error: reject,
              complete: () => resolve(seen),
            });
          });
          const shown = events.filter(({ type }) => type === "TEXT_MESSAGE_CHUNK").map(({ delta }) => delta);
          return { text: shown.join(""), raw: JSON.stringify(events.filter(({ type }) => type === "RAW")) };
        },
      };
    };
  },
};
