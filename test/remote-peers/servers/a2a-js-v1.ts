import type { Metadata } from "@grpc/grpc-js";
import * as sdk from "a2a-sdk-v1";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  UnauthenticatedUser,
} from "a2a-sdk-v1/server";
import { agentCardHandler, jsonRpcHandler, restHandler } from "a2a-sdk-v1/server/express";
import { A2AService, grpcService } from "a2a-sdk-v1/server/grpc";
import type { Request } from "express";
import { installedVersion } from "../../peers/clients/installed-version.ts";
import { Cancellations, type Pace, perform, type ScriptedState, type Teller } from "../agent-script.ts";
import { type Profile, REQUIRED_EXTENSION, type ServerLine } from "../server-line.ts";
import { bearerName, listen } from "./listen.ts";
import { listenGrpc } from "./listen-grpc.ts";

/** The official server, newest release line. */
export const a2aJsV1: ServerLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v1"),
  protocol: "1.0",
  bindings: ["JSONRPC", "HTTP+JSON", "GRPC"],
  lacks: {
    "unknown-methods": "the server implements every method of its version, and refuses other versions by name",
  },
  rules: {
    finishedTask: "unsupported-operation",
    unknownPush: "task-not-found",
    repeatedCancel: "the task",
  },
  start({ binding, profile = "able", pace, reachedAt }) {
    const way = { ...(reachedAt !== undefined && { reachedAt }) };
    const handlerAt = (url: string) => {
      const card = cardOf(profile, { protocolBinding: binding, url });
      return new DefaultRequestHandler(
        card,
        new InMemoryTaskStore(),
        executor(pace),
        undefined,
        undefined,
        undefined,
        profile === "unprepared" ? undefined : { ...card, description: "Follows a script, and more." },
        undefined,
        { validateInputModes: profile === "plain" },
      );
    };
    if (binding === "GRPC") {
      return listenGrpc(way, {
        service: A2AService,
        create(address) {
          const requestHandler = handlerAt(address);
          const cards = agentCardHandler({ agentCardProvider: requestHandler });
          return {
            implementation: { ...grpcService({ requestHandler, userBuilder: callerOf }) },
            cards: (app) => app.use("/.well-known/agent-card.json", cards),
          };
        },
      });
    }
    return listen(way, (app, url) => {
      const requestHandler = handlerAt(`${url}/a2a`);
      const handler = binding === "JSONRPC" ? jsonRpcHandler : restHandler;
      app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
      app.use("/a2a", handler({ requestHandler, userBuilder }));
    });
  },
};

async function callerOf({ metadata }: { readonly metadata: Metadata }) {
  const userName = bearerName(metadata.get("authorization")[0]?.toString());
  return userName === undefined ? new UnauthenticatedUser() : { isAuthenticated: true, userName };
}

async function userBuilder({ headers }: Request) {
  const userName = bearerName(headers.authorization);
  return userName === undefined ? new UnauthenticatedUser() : { isAuthenticated: true, userName };
}

function cardOf(profile: Profile, at: { readonly protocolBinding: string; readonly url: string }): sdk.AgentCard {
  const isAble = profile === "able";
  return sdk.AgentCard.fromJSON({
    name: "Peer",
    description: "Follows a script.",
    version: "1.0.0",
    supportedInterfaces: [{ ...at, protocolVersion: profile === "ahead" ? "1.7" : "1.0" }],
    capabilities: {
      streaming: profile !== "bare",
      pushNotifications: isAble,
      extendedAgentCard: isAble || profile === "unprepared",
      extensions: profile === "demanding" ? [{ uri: REQUIRED_EXTENSION, required: true }] : [],
    },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  });
}

function executor(pace: Pace | undefined): AgentExecutor {
  const cancellations = new Cancellations();
  return {
    execute: (turn, bus) => perform(tellerOf(turn, bus, cancellations.of(turn.taskId).promise), pace),
    async cancelTask(taskId) {
      cancellations.of(taskId).resolve();
    },
  };
}

const STATES: Readonly<Record<ScriptedState, sdk.TaskState>> = {
  working: sdk.TaskState.TASK_STATE_WORKING,
  "input-required": sdk.TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: sdk.TaskState.TASK_STATE_COMPLETED,
  failed: sdk.TaskState.TASK_STATE_FAILED,
  rejected: sdk.TaskState.TASK_STATE_REJECTED,
  canceled: sdk.TaskState.TASK_STATE_CANCELED,
};

function tellerOf(
  { taskId, contextId, userMessage, task }: RequestContext,
  bus: ExecutionEventBus,
  canceled: Promise<void>,
): Teller {
  const message = (text: string, links: { readonly taskId?: string }): sdk.Message =>
    sdk.Message.fromJSON({
      messageId: crypto.randomUUID(),
      role: "ROLE_AGENT",
      parts: [{ text }],
      contextId,
      ...links,
    });
  const statusOf = (state: sdk.TaskState, text?: string): sdk.TaskStatus => ({
    state,
    timestamp: new Date().toISOString(),
    message: text === undefined ? undefined : message(text, { taskId }),
  });
  const artifact = (parts: sdk.Part[], append: boolean): void => {
    const made = { ...sdk.Artifact.fromJSON({ artifactId: "answer" }), parts };
    bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact: made, append, lastChunk: false, metadata: undefined }),
    );
  };
  return {
    said: userMessage.parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join(""),
    // This server requires every stream to start with the task, also for a reply.
    isNew: true,
    canceled,
    openTask: () =>
      bus.publish(
        AgentEvent.task(
          task ?? {
            id: taskId,
            contextId,
            status: statusOf(sdk.TaskState.TASK_STATE_SUBMITTED),
            history: [userMessage],
            artifacts: [],
            metadata: undefined,
          },
        ),
      ),
    status: (state, text) =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(STATES[state], text), metadata: undefined }),
      ),
    piece: (text, append) => artifact([sdk.Part.fromJSON({ text })], append),
    echo: () => artifact(userMessage.parts, false),
    message: (text) => bus.publish(AgentEvent.message(message(text, {}))),
    finish: () => bus.finished(),
  };
}
