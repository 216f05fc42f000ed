import { setTimeout as sleep } from "node:timers/promises";
import { elementsOf, type Json } from "../json.ts";
import { ServerScript } from "../server-script.ts";
import { BEEAI_PACKAGES } from "./beeai-client.ts";
import { freePort } from "./free-port.ts";
import type { RealServer } from "./real-peer.ts";

interface Bases {
  readonly BaseAgent: new () => object;
  /** Any other error loses its message. */
  readonly AgentError: new (
    message: string,
  ) => Error;
}

interface Serve {
  readonly A2AServer: {
    new (options: object): { register(agent: object, options: object): void; serve(): Promise<void> };
    registerFactory(ref: object, factory: (agent: object) => Promise<object>): void;
  };
}

interface Executors {
  readonly BaseA2AAgentExecutor: new (agent: object) => object;
}

/** The server cannot be stopped: it runs until the program ends. */
export const realBeeaiServer: RealServer = {
  name: "BeeAI",
  packages: BEEAI_PACKAGES,
  async load(modules) {
    const { BaseAgent, AgentError } = await modules.import<Bases>("beeai-framework/agents/base");
    const { Emitter } = await modules.import<Json>("beeai-framework/emitter/emitter");
    const { UnconstrainedMemory } = await modules.import<Json>("beeai-framework/memory/unconstrainedMemory");
    const { AssistantMessage } = await modules.import<Json>("beeai-framework/backend/message");
    const { A2AServer } = await modules.import<Serve>("beeai-framework/adapters/a2a/serve/server");
    const { BaseA2AAgentExecutor } = await modules.import<Executors>(
      "beeai-framework/adapters/a2a/serve/agent_executor",
    );
    const script = new ServerScript();
    const construct = (type: unknown, ...values: readonly unknown[]): Json =>
      Reflect.construct(type as new () => object, values);

    class Scripted extends BaseAgent {
      memory: Json = construct(UnconstrainedMemory);
      emitter: Json = (Emitter.root as { child(options: object): unknown }).child({
        namespace: ["agent", "scripted"],
        creator: this,
      });

      async clone(): Promise<Scripted> {
        return new Scripted();
      }

      async _run(): Promise<object> {
        const { content } = elementsOf(this.memory.messages).at(-1);
        const text = elementsOf(content)
          .map((part) => part.text ?? "")
          .join("");
        const files = elementsOf(content).filter(({ type }) => type === "file");
        const act = script.act({ text, fileBytes: files.map(({ data }) => atob(String(data))).join("").length });
        if (act.kind === "fail") throw new AgentError(act.reason);
        if (act.kind === "work") await new Promise(() => {});
        const answer = act.kind === "write" ? act.tokens.join("") : act.kind === "ask" ? act.question : "";
        return { result: construct(AssistantMessage, answer) };
      }
    }

    A2AServer.registerFactory(Scripted, async (agent) => new BaseA2AAgentExecutor(agent));
    return async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const server = new A2AServer({ host: "127.0.0.1", port, protocol: "jsonrpc" });
      server.register(new Scripted(), { name: "Scripted", description: "Does what the text says.", url });
      await server.serve();
      while (
        !(await fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ))
      )
        await sleep(20);
      return { url, async close() {} };
    };
  },
};
