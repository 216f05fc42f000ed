import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as sdk from "a2a-sdk-v1";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, UnauthenticatedUser } from "a2a-sdk-v1/server";
import { agentCardHandler, jsonRpcHandler } from "a2a-sdk-v1/server/express";
import express from "express";

/** One message to the official server. */
export interface ForeignTurn {
  readonly text: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly message: sdk.Message;
  /** Resolves when the task is canceled. */
  readonly canceled: Promise<void>;
  /** Completes the task with this text. */
  finish(text: string): void;
}

export interface ForeignServer extends AsyncDisposable {
  readonly url: string;
  /** How many messages have arrived. */
  messages(): number;
  /** By message id: how often it arrived. */
  counts(): ReadonlyMap<string, number>;
  /** The last state of each task, in the order of their creation. */
  states(): readonly string[];
}

/** The official server, as it is, with this agent. It runs in this process, and its tasks are in memory. */
export async function serveForeign(
  run: (turn: ForeignTurn) => Promise<void>,
  canceling?: (taskId: string) => Promise<void>,
): Promise<ForeignServer> {
  const counts = new Map<string, number>();
  const states = new Map<string, string>();
  const cancels = new Map<string, () => void>();
  const app = express();
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card = sdk.AgentCard.fromJSON({
    ...{ name: "Foreign", description: "Foreign.", version: "1.0.0", skills: [] },
    supportedInterfaces: [{ protocolBinding: "JSONRPC", url: `${url}/a2a`, protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    async execute({ taskId, contextId, userMessage }, bus) {
      counts.set(userMessage.messageId, (counts.get(userMessage.messageId) ?? 0) + 1);
      const status = (state: sdk.TaskState, name: string, text?: string) => {
        states.set(taskId, name);
        const message =
          text === undefined
            ? undefined
            : { messageId: crypto.randomUUID(), role: "ROLE_AGENT", parts: [{ text }], taskId, contextId };
        return { state: sdk.taskStateToJSON(state), timestamp: new Date().toISOString(), ...(message && { message }) };
      };
      bus.publish(
        AgentEvent.task(
          sdk.Task.fromJSON({
            id: taskId,
            contextId,
            status: status(sdk.TaskState.TASK_STATE_WORKING, "working"),
            history: [sdk.Message.toJSON(userMessage)],
          }),
        ),
      );
      const end = (state: sdk.TaskState, name: string, text?: string): void => {
        bus.publish(
          AgentEvent.statusUpdate(
            sdk.TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: status(state, name, text) }),
          ),
        );
        bus.finished();
      };
      let isOver = false;
      const canceled = new Promise<void>((resolve) => {
        cancels.set(taskId, () => {
          if (!isOver) end(sdk.TaskState.TASK_STATE_CANCELED, "canceled");
          isOver = true;
          resolve();
        });
      });
      const text = sdk.Message.toJSON(userMessage) as { parts?: { text?: string }[] };
      await run({
        ...{ taskId, contextId, canceled, message: userMessage, text: text.parts?.[0]?.text ?? "" },
        finish: (result) => {
          if (!isOver) end(sdk.TaskState.TASK_STATE_COMPLETED, "completed", result);
          isOver = true;
        },
      });
    },
    async cancelTask(taskId) {
      await canceling?.(taskId);
      cancels.get(taskId)?.();
    },
  });
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder: async () => new UnauthenticatedUser() }));
  return {
    url,
    messages: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    counts: () => counts,
    states: () => [...states.values()],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
