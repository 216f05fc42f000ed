import { ServerScript } from "../server-script.ts";
import type { RealServer } from "./real-peer.ts";
import { listenerOf, serveApp } from "./serve-app.ts";

interface A2A {
  readonly A2AServer: new (options: object) => object;
}

interface Core {
  readonly A2AServerRegistry: new () => { register(server: object, deps: object): void };
}

interface Hono {
  createVoltAgentApp(
    deps: object,
    options: object,
  ): Promise<{ readonly app: { fetch(request: Request): Promise<Response> } }>;
}

interface CallOptions {
  readonly conversationId: string;
  readonly abortSignal: AbortSignal;
}

export const realVoltagentServer: RealServer = {
  name: "VoltAgent",
  packages: { "@voltagent/a2a-server": "2.0.3", "@voltagent/core": "2.10.0", "@voltagent/server-hono": "2.0.14" },
  async load(modules) {
    const { A2AServer } = await modules.import<A2A>("@voltagent/a2a-server");
    const { A2AServerRegistry } = await modules.import<Core>("@voltagent/core");
    const { createVoltAgentApp } = await modules.import<Hono>("@voltagent/server-hono");
    const script = new ServerScript();

    async function* tokensOf(text: string, { conversationId, abortSignal }: CallOptions): AsyncGenerator<string> {
      const act = script.act({ text, fileBytes: 0, conversation: conversationId });
      if (act.kind === "fail") throw new Error(act.reason);
      if (act.kind === "work") {
        await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(new Error("Stopped"))));
      } else yield* act.kind === "ask" ? [act.question] : act.tokens;
    }

    const scripted = {
      id: "scripted",
      name: "scripted",
      getTools: () => [],
      async generateText(text: string, options: CallOptions) {
        return { text: (await Array.fromAsync(tokensOf(text, options))).join("") };
      },
      async streamText(text: string, options: CallOptions) {
        return { textStream: tokensOf(text, options) };
      },
    };

    return async () => {
      const agentRegistry = { getAgent: () => scripted, getAllAgents: () => [scripted] };
      const registry = new A2AServerRegistry();
      const server = new A2AServer({ id: "scripted", name: "scripted", version: "0.1.0", agents: { scripted } });
      registry.register(server, { agentRegistry });
      const deps = { agentRegistry, workflowRegistry: {}, triggerRegistry: { list: () => [] }, a2a: { registry } };
      const { app } = await createVoltAgentApp(deps, { enableSwaggerUI: false });
      const running = await serveApp(() => listenerOf(async (request) => app.fetch(request)));
      const cardUrl = `${running.url}/.well-known/scripted/agent-card.json`;
      return { ...running, url: `${running.url}/a2a/scripted`, cardUrl };
    };
  },
};
