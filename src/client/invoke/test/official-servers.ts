import { createServer, type RequestListener } from "node:http";
import type { AgentCard as CardV0_2, Task as TaskV0_2 } from "a2a-sdk-v0_2";
import * as v0_2 from "a2a-sdk-v0_2/server";
import type { AgentCard as CardV0_3 } from "a2a-sdk-v0_3";
import * as v0_3 from "a2a-sdk-v0_3/server";
import * as express0_3 from "a2a-sdk-v0_3/server/express";
import { type AgentCard as CardV1, type Message as MessageV1, Role, TaskState } from "a2a-sdk-v1";
import * as v1 from "a2a-sdk-v1/server";
import * as express1 from "a2a-sdk-v1/server/express";
import express from "express";

/** The actions of the agent, in order. */
export interface Plan {
  /** Sends this status message while it works. */
  readonly progress?: string;
  /** Waits for this promise. */
  readonly until?: Promise<unknown>;
  readonly artifact?: string;
  readonly end: "completed" | "failed";
  readonly message?: string;
}

export interface OfficialServer extends AsyncDisposable {
  readonly url: string;
}

/** The official servers by version and binding. */
export const OFFICIAL: Readonly<Record<string, (plan: Plan) => Promise<OfficialServer>>> = {
  "0.2 over JSON-RPC": (plan) =>
    listening((url) => {
      const store = new v0_2.InMemoryTaskStore();
      const handler = new v0_2.DefaultRequestHandler(earlyCard(url), store, new EarlyExecutor(plan));
      // The library declares the types of an older Express and works with this version.
      const app: unknown = express();
      return new v0_2.A2AExpressApp(handler).setupRoutes(app as Parameters<v0_2.A2AExpressApp["setupRoutes"]>[0]);
    }),
  "0.3 over JSON-RPC": (plan) => listening((url) => app0_3(url, "JSONRPC", plan)),
  "0.3 over REST": (plan) => listening((url) => app0_3(url, "HTTP+JSON", plan)),
  "1.0 over JSON-RPC": (plan) => listening((url) => app1(url, "JSONRPC", plan)),
  "1.0 over REST": (plan) => listening((url) => app1(url, "HTTP+JSON", plan)),
};

async function listening(appAt: (url: string) => RequestListener): Promise<OfficialServer> {
  let app: RequestListener | undefined;
  const server = createServer((request, response) => app?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  app = appAt(url);
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ABOUT = {
  name: "Official",
  description: "Follows its plan.",
  version: "1.0.0",
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
};

function earlyCard(url: string): CardV0_2 {
  return { ...ABOUT, url: `${url}/`, capabilities: { streaming: true }, skills: [] };
}

function app0_3(url: string, preferredTransport: string, plan: Plan): RequestListener {
  const isRest = preferredTransport === "HTTP+JSON";
  const card: CardV0_3 = {
    ...ABOUT,
    url: isRest ? `${url}/rest` : `${url}/rpc`,
    preferredTransport,
    protocolVersion: "0.3.0",
    capabilities: { streaming: true },
    skills: [],
  };
  const requestHandler = new v0_3.DefaultRequestHandler(card, new v0_3.InMemoryTaskStore(), new EarlyExecutor(plan));
  const userBuilder = express0_3.UserBuilder.noAuthentication;
  return express()
    .use("/.well-known/agent-card.json", express0_3.agentCardHandler({ agentCardProvider: requestHandler }))
    .use("/rpc", express0_3.jsonRpcHandler({ requestHandler, userBuilder }))
    .use("/rest", express0_3.restHandler({ requestHandler, userBuilder }));
}

function app1(url: string, protocolBinding: string, plan: Plan): RequestListener {
  const isRest = protocolBinding === "HTTP+JSON";
  const at = { url: isRest ? `${url}/rest` : `${url}/rpc`, protocolBinding, protocolVersion: "1.0", tenant: "" };
  const card: CardV1 = {
    ...ABOUT,
    supportedInterfaces: [at],
    provider: undefined,
    capabilities: { streaming: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    skills: [],
    signatures: [],
  };
  const requestHandler = new v1.DefaultRequestHandler(card, new v1.InMemoryTaskStore(), new Executor(plan));
  const userBuilder = express1.UserBuilder.noAuthentication;
  return express()
    .use("/.well-known/agent-card.json", express1.agentCardHandler({ agentCardProvider: requestHandler }))
    .use("/rpc", express1.jsonRpcHandler({ requestHandler, userBuilder }))
    .use("/rest", express1.restHandler({ requestHandler, userBuilder }));
}

/** An agent for the libraries of 0.2 and 0.3, which have the same interface. */
class EarlyExecutor implements v0_2.AgentExecutor {
  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async execute({ taskId, contextId, userMessage }: v0_2.RequestContext, bus: v0_2.ExecutionEventBus): Promise<void> {
    const { progress, until, artifact, end, message } = this.#plan;
    const says = (text: string): NonNullable<TaskV0_2["status"]["message"]> => ({
      kind: "message",
      messageId: crypto.randomUUID(),
      role: "agent",
      parts: [{ kind: "text", text }],
    });
    const status = (state: "working" | "completed" | "failed", text?: string): TaskV0_2["status"] => ({
      state,
      timestamp: new Date().toISOString(),
      ...(text !== undefined && { message: says(text) }),
    });
    bus.publish({ kind: "task", id: taskId, contextId, status: status("working"), history: [userMessage] });
    const update = { kind: "status-update", taskId, contextId } as const;
    if (progress !== undefined) bus.publish({ ...update, status: status("working", progress), final: false });
    await until;
    if (artifact !== undefined) {
      const made = { artifactId: "a", parts: [{ kind: "text" as const, text: artifact }] };
      bus.publish({ kind: "artifact-update", taskId, contextId, artifact: made });
    }
    bus.publish({ ...update, status: status(end, message), final: true });
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

class Executor implements v1.AgentExecutor {
  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async execute({ taskId, contextId, userMessage }: v1.RequestContext, bus: v1.ExecutionEventBus): Promise<void> {
    const { progress, until, artifact, end, message } = this.#plan;
    const status = (state: TaskState, text?: string): CardStatus => ({
      state,
      message: text === undefined ? undefined : says(text),
      timestamp: new Date().toISOString(),
    });
    const working = status(TaskState.TASK_STATE_WORKING);
    bus.publish(
      v1.AgentEvent.task({
        id: taskId,
        contextId,
        status: working,
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    const update = { taskId, contextId, metadata: undefined };
    if (progress !== undefined)
      bus.publish(v1.AgentEvent.statusUpdate({ ...update, status: status(TaskState.TASK_STATE_WORKING, progress) }));
    await until;
    if (artifact !== undefined) {
      const made = {
        artifactId: "a",
        name: "",
        description: "",
        parts: partsOf(artifact),
        metadata: undefined,
        extensions: [],
      };
      bus.publish(v1.AgentEvent.artifactUpdate({ ...update, artifact: made, append: false, lastChunk: true }));
    }
    const state = end === "completed" ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_FAILED;
    bus.publish(v1.AgentEvent.statusUpdate({ ...update, status: status(state, message) }));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

type CardStatus = Parameters<typeof v1.AgentEvent.statusUpdate>[0]["status"] & object;

function partsOf(text: string): MessageV1["parts"] {
  return [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }];
}

function says(text: string): MessageV1 {
  return {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_AGENT,
    parts: partsOf(text),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
