import type { RequestListener } from "node:http";
import { elementsOf, type Json } from "../json.ts";
import { ServerScript } from "../server-script.ts";
import type { RealServer } from "./real-peer.ts";
import { serveApp } from "./serve-app.ts";
import { STRANDS_PACKAGES } from "./strands-client.ts";

interface Strands {
  readonly Agent: new (options: object) => object;
  readonly Model: new () => object;
}

interface Express {
  default(): RequestListener & { use(middleware: RequestListener): void };
}

interface A2A {
  readonly A2AExpressServer: new (options: object) => { createMiddleware(): RequestListener };
}

export const realStrandsServer: RealServer = {
  name: "Strands Agents",
  packages: STRANDS_PACKAGES,
  async load(modules) {
    const { Agent, Model } = await modules.import<Strands>("@strands-agents/sdk");
    const { A2AExpressServer } = await modules.import<A2A>("@strands-agents/sdk/a2a/express");
    const express = await modules.import<Express>("express");
    const script = new ServerScript();

    class Scripted extends Model {
      readonly conversation: string;

      constructor(conversation: string) {
        super();
        this.conversation = conversation;
      }

      updateConfig(): void {}

      getConfig(): object {
        return { modelId: "scripted" };
      }

      async *stream(messages: readonly Json[]): AsyncGenerator<object> {
        const blocks = elementsOf(messages.at(-1)?.content);
        const text = blocks.map((block) => (block.type === "textBlock" ? block.text : "")).join("");
        const act = script.act({ text, fileBytes: bytesOf(blocks), conversation: this.conversation });
        if (act.kind === "fail") throw new Error(act.reason);
        if (act.kind === "work") await new Promise(() => {});
        yield { type: "modelMessageStartEvent", role: "assistant" };
        yield { type: "modelContentBlockStartEvent" };
        const tokens = act.kind === "write" ? act.tokens : act.kind === "ask" ? [act.question] : [];
        for (const token of tokens) {
          yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: token } };
        }
        yield { type: "modelContentBlockStopEvent" };
        yield { type: "modelMessageStopEvent", stopReason: "endTurn" };
      }
    }

    return () =>
      serveApp((port) => {
        const agentFactory = (contextId: string) => new Agent({ model: new Scripted(contextId), printer: false });
        const httpUrl = `http://127.0.0.1:${port}`;
        const server = new A2AExpressServer({ name: "Scripted", agentFactory, httpUrl });
        const app = express.default();
        app.use(server.createMiddleware());
        return app;
      });
  },
};

/** A text file becomes a document with text, other files become bytes. */
function bytesOf(blocks: readonly Json[]): number {
  let bytes = 0;
  for (const { source } of blocks) bytes += source?.bytes?.length ?? source?.text?.length ?? 0;
  return bytes;
}
