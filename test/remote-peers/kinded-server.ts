import { once } from "node:events";
import type { Server } from "node:http";
import {
  A2AExpressApp as App02,
  DefaultRequestHandler as Handler02,
  InMemoryTaskStore as Store02,
} from "a2a-sdk-v0_2/server";
import type { AgentCard, Message, Part, TaskState } from "a2a-sdk-v0_3";
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-v0_3/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "a2a-sdk-v0_3/server/express";
import express from "express";

interface Turn {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: Message;
  readonly task?: unknown;
}

/** The events of 0.2 and 0.3 are told apart by their kind, and are the same otherwise. */
interface Bus {
  publish(event: never): void;
  finished(): void;
}

/** Does what the first text tells it to. */
class Agent {
  readonly #canceled = new Set<string>();

  readonly execute = async (turn: Turn, bus: Bus): Promise<void> => {
    const { taskId, contextId, userMessage } = turn;
    const publish = (event: object) => bus.publish(event as never);
    const said = userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    const message = (text: string) => ({
      kind: "message",
      role: "agent",
      messageId: crypto.randomUUID(),
      parts: [{ kind: "text", text }],
      taskId,
      contextId,
    });
    const status = (state: TaskState, final: boolean, text?: string) =>
      publish({
        kind: "status-update",
        taskId,
        contextId,
        final,
        status: { state, ...(text === undefined ? {} : { message: message(text) }) },
      });
    const artifact = (parts: readonly Part[], append = false) =>
      publish({ kind: "artifact-update", taskId, contextId, append, artifact: { artifactId: "answer", parts } });

    if (said === "message") {
      const { taskId: _, ...bare } = message("just a message");
      publish(bare);
      bus.finished();
      return;
    }
    if (turn.task === undefined) {
      publish({
        kind: "task",
        id: taskId,
        contextId,
        status: { state: "submitted" },
        history: [userMessage],
        artifacts: [],
      });
    }
    status("working", false);
    if (said === "ask") status("input-required", true, "which one?");
    else if (said === "fail") status("failed", true, "no luck");
    else if (said === "hang") {
      while (!this.#canceled.has(taskId)) await new Promise((resolve) => setTimeout(resolve, 10));
      status("canceled", true);
    } else if (said.startsWith("chunks ")) {
      const count = Number(said.slice("chunks ".length));
      for (let index = 0; index < count; index++) {
        artifact([{ kind: "text", text: `${index};` }], index > 0);
        await new Promise((resolve) => setImmediate(resolve));
      }
      status("completed", true);
    } else {
      artifact(userMessage.parts);
      status("completed", true);
    }
    bus.finished();
  };

  readonly cancelTask = async (taskId: string): Promise<void> => {
    this.#canceled.add(taskId);
  };
}

export interface PeerServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A server of the official kit, of a version whose objects name their kind. Its card names it as `reachedAt` says. */
export async function startKindedServer(
  line: "0.2" | "0.3",
  binding: "JSONRPC" | "HTTP+JSON",
  reachedAt: (url: string) => Promise<string> = async (url) => url,
): Promise<PeerServer> {
  const app = express();
  const server: Server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server does not listen.");
  const url = await reachedAt(`http://127.0.0.1:${address.port}`);
  const card = {
    name: "Peer",
    description: "Does as told.",
    version: "1.0.0",
    protocolVersion: line === "0.2" ? "0.2.5" : "0.3.0",
    url: line === "0.2" ? url : `${url}/a2a`,
    ...(line === "0.3" ? { preferredTransport: binding } : {}),
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  } satisfies AgentCard;
  const agent = new Agent();
  if (line === "0.2") {
    new App02(new Handler02(card, new Store02(), agent)).setupRoutes(app as never);
  } else {
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
    const handler = binding === "JSONRPC" ? jsonRpcHandler : restHandler;
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/a2a", handler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  }
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
