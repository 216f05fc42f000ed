import { elementsOf, type Json } from "../json.ts";
import { type Act, ServerScript } from "../server-script.ts";
import type { RealServer } from "./real-peer.ts";
import { listenerOf, serveApp } from "./serve-app.ts";

type Handler = (context: object) => Promise<Response>;

interface Handlers {
  readonly GET_AGENT_CARD_ROUTE: { readonly handler: Handler };
  readonly AGENT_EXECUTION_ROUTE: { readonly handler: Handler };
}

interface CallOptions {
  readonly memory?: { readonly thread: string };
  readonly abortSignal?: AbortSignal;
}

/** Its routes and its task store, with an agent that implements its interface. */
export const realMastraServer: RealServer = {
  name: "Mastra",
  packages: { "@mastra/server": "1.69.0", "@mastra/core": "1.71.0", zod: "4.1.12" },
  async load(modules) {
    const { GET_AGENT_CARD_ROUTE, AGENT_EXECUTION_ROUTE } =
      await modules.import<Handlers>("@mastra/server/handlers/a2a");
    const { InMemoryTaskStore } = await modules.import<{ readonly InMemoryTaskStore: new () => object }>(
      "@mastra/server/a2a/store",
    );
    const { RequestContext } = await modules.import<{ readonly RequestContext: new () => object }>(
      "@mastra/core/request-context",
    );
    return async () => {
      const agent = scriptedAgent(new ServerScript());
      const mastra = {
        getAgentById: () => agent,
        listAgents: () => ({}),
        getLogger: () => undefined,
        getServer: () => undefined,
      };
      const taskStore = new InMemoryTaskStore();
      const running = await serveApp(() =>
        listenerOf(async (request) => {
          const { pathname } = new URL(request.url);
          const common = {
            mastra,
            agentId: "scripted",
            requestContext: new RequestContext(),
            taskStore,
            routePrefix: "/api",
          };
          const context = { ...common, request, abortSignal: request.signal };
          if (pathname === "/api/.well-known/scripted/agent-card.json") return GET_AGENT_CARD_ROUTE.handler(context);
          if (request.method !== "POST" || pathname !== "/api/a2a/scripted")
            return new Response("404 Not Found", { status: 404 });
          return AGENT_EXECUTION_ROUTE.handler({ ...context, ...((await request.json()) as object) });
        }),
      );
      const cardUrl = `${running.url}/api/.well-known/scripted/agent-card.json`;
      return { ...running, url: `${running.url}/api/a2a/scripted`, cardUrl };
    };
  },
};

function scriptedAgent(script: ServerScript): object {
  const actFor = (messages: Json, { memory }: CallOptions): Act => {
    const parts = elementsOf(messages[0].content);
    const text = parts.map((part) => part.text ?? "").join("");
    const files = parts.filter(({ type }) => type === "file").map(({ data }) => atob(String(data)));
    const conversation = memory?.thread;
    return script.act({ text, fileBytes: files.join("").length, ...(conversation !== undefined && { conversation }) });
  };
  const answered = (data: unknown): Act => script.act({ text: String(data), fileBytes: 0, isAnswer: true });
  return {
    id: "scripted",
    getInstructions: async () => "Does what the text of the message says.",
    listTools: async () => ({}),
    generate: async (messages: Json, options: CallOptions) => generated(actFor(messages, options)),
    resumeGenerate: async (data: unknown) => generated(answered(data)),
    stream: async (messages: Json, options: CallOptions) => streamed(actFor(messages, options), options),
    resumeStream: async (data: unknown, options: CallOptions) => streamed(answered(data), options),
  };
}

async function generated(act: Act): Promise<object> {
  if (act.kind === "fail") throw new Error(act.reason);
  if (act.kind === "ask") return { text: "", finishReason: "suspended", suspendPayload: { message: act.question } };
  if (act.kind === "work") await new Promise(() => {});
  return { text: act.kind === "write" ? act.tokens.join("") : "", finishReason: "stop" };
}

function streamed(act: Act, { abortSignal }: CallOptions): object {
  async function* fullStream(): AsyncGenerator<object> {
    if (act.kind === "fail") throw new Error(act.reason);
    if (act.kind === "ask") yield { type: "tool-call-suspended" };
    if (act.kind === "work") await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
    if (act.kind === "write") for (const text of act.tokens) yield { type: "text-delta", payload: { text } };
  }
  const suspendPayload = act.kind === "ask" ? { message: act.question } : undefined;
  return { fullStream: fullStream(), text: "", finishReason: "stop", suspendPayload };
}
