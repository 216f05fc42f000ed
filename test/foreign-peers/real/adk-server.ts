import type { RequestListener } from "node:http";
import { elementsOf, type Json } from "../json.ts";
import { ServerScript } from "../server-script.ts";
import { ADK_PACKAGES } from "./adk-client.ts";
import type { RealServer } from "./real-peer.ts";
import { serveApp } from "./serve-app.ts";

interface Adk {
  readonly BaseAgent: new (options: object) => { readonly name: string };
  createEvent(event: object): object;
  toA2a(agent: object, options: object): Promise<RequestListener>;
}

export const realAdkServer: RealServer = {
  name: "Google ADK",
  packages: ADK_PACKAGES,
  async load(modules) {
    const { BaseAgent, createEvent, toA2a } = await modules.import<Adk>("@google/adk");
    const script = new ServerScript();

    class Scripted extends BaseAgent {
      async *runAsyncImpl({ invocationId, session, userContent }: Json): AsyncGenerator<object> {
        const event = (more: object) => createEvent({ author: this.name, invocationId, ...more });
        const said = (text: string, partial: boolean) =>
          event({ partial, content: { role: "model", parts: [{ text }] } });
        const parts = elementsOf(userContent.parts);
        const text = parts.map((part) => part.text ?? "").join("");
        const files = parts.filter(({ inlineData }) => inlineData).map(({ inlineData }) => atob(inlineData.data));
        const act = script.act({ text, fileBytes: files.join("").length, conversation: session.id });
        if (act.kind === "fail") throw new Error(act.reason);
        if (act.kind === "work") await new Promise(() => {});
        else if (act.kind === "ask") {
          const functionCall = { id: "call-1", name: "ask_user", args: { question: act.question } };
          yield event({ content: { role: "model", parts: [{ functionCall }] }, longRunningToolIds: ["call-1"] });
        } else {
          for (const token of act.tokens) yield said(token, true);
          yield said(act.tokens.join(""), false);
        }
      }
    }

    return () => {
      const agent = new Scripted({ name: "scripted", description: "" });
      return serveApp((port) => toA2a(agent, { host: "127.0.0.1", port, allowUnauthenticated: true }));
    };
  },
};
