import { randomUUID } from "node:crypto";
import { type Asked, type Reply, serveScript } from "../http-script.ts";
import type { Json } from "../json.ts";
import type { ServerPeer } from "../peer.ts";
import { heardIn } from "../sdk-server.ts";
import { ServerScript } from "../server-script.ts";

/**
 * The routes of `@mastra/server` under `/api`. The card is only at `/api/.well-known/ID/agent-card.json`; requests for
 * 1.0 get a card that offers 1.0 and 0.3 at one address. A streamed task starts as `working`; the last chunk is sent
 * only at the end. A failure is an error if the caller waits, and a status if it streams.
 */
export const mastraServer: ServerPeer = {
  name: "Mastra",
  package: "@mastra/server",
  version: "1.69.0",
  protocol: "0.3 JSON-RPC",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": "works",
    "question and answer": "works",
    "failed task": "works",
    "cancel a running task": "works",
    "list of tasks": "works",
    "text, through remoteAgent": "works",
    "file, through remoteAgent": "works",
  },
  async start() {
    const script = new ServerScript();
    const tasks = new Map<string, MastraTask>();
    const server = await serveScript((asked) => {
      const { method, path, url } = asked;
      if (method === "GET" && path === "/api/.well-known/scripted/agent-card.json")
        return { status: 200, json: card(url) };
      if (method === "POST" && path === "/api/a2a/scripted") return answer(script, tasks, asked);
      return { status: 404, page: "404 Not Found" };
    });
    return {
      ...server,
      url: `${server.url}/api/a2a/scripted`,
      cardUrl: `${server.url}/api/.well-known/scripted/agent-card.json`,
    };
  },
};

interface MastraTask {
  task: Json;
  readonly stop: PromiseWithResolvers<void>;
}

function card(url: string): object {
  return {
    name: "scripted",
    description: "Does what the text of the message says.",
    url: `${url}/api/a2a/scripted`,
    provider: { organization: "Mastra", url: "https://mastra.ai" },
    version: "1.0",
    protocolVersion: "0.3.0",
    additionalInterfaces: [],
    supportsAuthenticatedExtendedCard: false,
    security: [],
    securitySchemes: {},
    capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false, extensions: [] },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}

async function answer(script: ServerScript, tasks: Map<string, MastraTask>, { body }: Asked): Promise<Reply> {
  const { id, method, params } = body;
  const respond = (outcome: object): Reply => ({ status: 200, json: { jsonrpc: "2.0", id, ...outcome } });
  const fail = (code: number, message: string): Reply => respond({ error: { code, message } });
  if (method === "tasks/get" || method === "tasks/cancel") {
    const known = tasks.get(params.id);
    if (known === undefined) return fail(-32001, `Task not found: ${params.id}`);
    if (method === "tasks/cancel") {
      known.task = { ...known.task, status: status("canceled", say("Task cancelled by request.")) };
      known.stop.resolve();
    }
    return respond({ result: known.task });
  }
  if (method !== "message/send" && method !== "message/stream") return fail(-32601, `Method not found: ${method}`);
  const known = tasks.get(params.message.taskId) ?? begin(params.message);
  tasks.set(known.task.id, known);
  const events = work(script, known, params.message);
  if (method === "message/stream") return { frames: frames(id, events) };
  for await (const _ of events);
  if (known.task.status.state === "failed") return fail(-32603, "The agent broke.");
  return respond({ result: known.task });
}

async function* frames(id: Json, events: AsyncIterable<Json>): AsyncGenerator<string> {
  for await (const result of events) yield `data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
}

function begin(message: Json): MastraTask {
  const task = {
    id: randomUUID(),
    contextId: message.contextId ?? randomUUID(),
    status: status("submitted"),
    artifacts: [],
    history: [message],
    metadata: { resourceId: "scripted" },
    kind: "task",
  };
  return { task, stop: Promise.withResolvers() };
}

const say = (text: string): object => ({
  messageId: randomUUID(),
  kind: "message",
  role: "agent",
  parts: [{ kind: "text", text }],
});

const status = (state: string, message?: object): object => ({
  state,
  timestamp: new Date().toISOString(),
  ...(message && { message }),
});

async function* work(script: ServerScript, known: MastraTask, message: Json): AsyncGenerator<Json> {
  const isAnswer = known.task.status.state === "input-required";
  const { id: taskId, contextId } = known.task;
  known.task = { ...known.task, status: status("working", say("Generating response...")) };
  yield known.task;
  const act = script.act({ ...heardIn(message), conversation: contextId, isAnswer });
  if (act.kind === "work") await known.stop.promise;
  else if (act.kind === "fail") known.task = { ...known.task, status: status("failed", say(act.reason)) };
  else if (act.kind === "ask") known.task = { ...known.task, status: status("input-required", say(act.question)) };
  else {
    const artifact = { artifactId: `${taskId}:response:text`, name: "response.txt" };
    for (const [index, text] of act.tokens.entries()) {
      const update = { ...artifact, parts: [{ kind: "text", text }] };
      const more = { ...(index > 0 && { append: true }), lastChunk: index === act.tokens.length - 1 };
      yield { kind: "artifact-update", taskId, contextId, ...more, artifact: update };
    }
    const whole = { ...artifact, parts: act.tokens.map((text) => ({ kind: "text", text })) };
    known.task = { ...known.task, artifacts: [whole], status: status("completed") };
  }
  yield { kind: "status-update", taskId, contextId, status: known.task.status, final: true };
}
