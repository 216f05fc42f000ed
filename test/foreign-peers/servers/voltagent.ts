import { randomUUID } from "node:crypto";
import { type Asked, type Reply, serveScript } from "../http-script.ts";
import { elementsOf, type Json } from "../json.ts";
import { cannot, type ServerPeer } from "../peer.ts";
import { ServerScript } from "../server-script.ts";

/**
 * The routes of `@voltagent/server-hono`. The card has no protocol version, is only at
 * `/.well-known/ID/agent-card.json`, and may lack a description. Tasks have no `kind`. A stream repeats the whole task
 * with a growing status message, each with a U+001E before the JSON. Errors have HTTP status 400. Only text is
 * supported.
 */
export const voltagentServer: ServerPeer = {
  name: "VoltAgent",
  package: "@voltagent/a2a-server",
  version: "2.0.3",
  protocol: "0.2 JSON-RPC",
  expected: {
    "card found from the address": "works",
    "text, sent": "works",
    "text, streamed": "works",
    "300 tokens, streamed": "works",
    "two messages in one context": "works",
    "question and answer": cannot("the server has no questions"),
    "failed task": "works",
    "cancel a running task": "works",
    "list of tasks": "works",
    "text, through remoteAgent": "works",
    "file, through remoteAgent": cannot("the server accepts text only"),
  },
  async start() {
    const script = new ServerScript();
    const tasks = new Map<string, VoltTask>();
    const server = await serveScript((asked) => {
      const { method, path, url } = asked;
      if (method === "GET" && path === "/.well-known/scripted/agent-card.json") return { status: 200, json: card(url) };
      if (method === "POST" && path === "/a2a/scripted") return answer(script, tasks, asked);
      return { status: 404, page: "404 Not Found" };
    });
    return {
      ...server,
      url: `${server.url}/a2a/scripted`,
      cardUrl: `${server.url}/.well-known/scripted/agent-card.json`,
    };
  },
};

interface VoltTask {
  record: Json;
  readonly stop: PromiseWithResolvers<void>;
}

function card(url: string): object {
  return {
    name: "scripted",
    url: `${url}/a2a/scripted`,
    version: "0.1.0",
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text"],
    skills: [],
  };
}

function answer(script: ServerScript, tasks: Map<string, VoltTask>, { body }: Asked): Reply | Promise<Reply> {
  const { id, method, params } = body;
  const fail = (code: number, message: string): Reply => ({
    status: 400,
    json: { jsonrpc: "2.0", id, error: { code, message, data: {} } },
  });
  if (method === "tasks/get" || method === "tasks/cancel") {
    const task = tasks.get(params.id);
    if (task === undefined) return fail(-32001, "There is no such task");
    if (method === "tasks/cancel") {
      task.record = { ...task.record, status: { state: "canceled", message: say(task.record, "Task canceled") } };
      task.stop.resolve();
    }
    return { status: 200, json: { jsonrpc: "2.0", id, result: task.record } };
  }
  if (method !== "message/send" && method !== "message/stream") return fail(-32601, `Unknown method '${method}'`);
  if (elementsOf(params.message.parts).some(({ kind }) => kind !== "text")) return fail(-32602, "Text parts only");
  const task = begin(params.message);
  tasks.set(task.record.id, task);
  return method === "message/send" ? send(script, task, body) : { frames: stream(script, task, id) };
}

function begin(message: Json): VoltTask {
  const taskId: string = message.taskId ?? randomUUID();
  const contextId: string = message.contextId ?? randomUUID();
  const history = [{ ...message, taskId, contextId }];
  const record = {
    id: taskId,
    contextId,
    history,
    status: { state: "submitted", timestamp: new Date().toISOString() },
  };
  return { record, stop: Promise.withResolvers() };
}

function say({ id, contextId }: Json, text: string): Json {
  return {
    kind: "message",
    role: "agent",
    messageId: randomUUID(),
    parts: [{ kind: "text", text }],
    taskId: id,
    contextId,
  };
}

async function send(script: ServerScript, task: VoltTask, { id }: Json): Promise<Reply> {
  for await (const _ of work(script, task));
  const error = { code: -32603, message: "The agent broke.", data: {} };
  const hasFailed = task.record.status.state === "failed";
  const outcome = hasFailed ? { error } : { result: task.record };
  return { status: hasFailed ? 400 : 200, json: { jsonrpc: "2.0", id, ...outcome } };
}

async function* stream(script: ServerScript, task: VoltTask, id: Json): AsyncGenerator<string> {
  for await (const record of work(script, task)) {
    const error = { code: -32603, message: "The agent broke.", data: {} };
    const outcome = record.status.state === "failed" ? { error } : { result: record };
    yield `data: \u001e${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n\n`;
  }
}

/** The task after each step. */
async function* work(script: ServerScript, task: VoltTask): AsyncGenerator<Json> {
  const { record } = task;
  const text = String(record.history[0].parts[0].text);
  const act = script.act({ text, fileBytes: 0, conversation: record.contextId });
  const message = say(record, "");
  const step = (state: string, said: string | undefined) => {
    const status = { state, timestamp: new Date().toISOString(), ...(said !== undefined && { message: shown(said) }) };
    task.record = { ...record, status, history: [...record.history, ...(said === undefined ? [] : [shown(said)])] };
    return task.record;
  };
  const shown = (said: string) => ({ ...message, parts: [{ kind: "text", text: said }] });
  yield step("working", undefined);
  yield step("working", "");
  if (act.kind === "work") {
    await task.stop.promise;
    yield task.record;
  } else if (act.kind === "fail") yield step("failed", act.reason);
  else {
    let said = "";
    for (const token of act.kind === "ask" ? [act.question] : act.tokens) {
      said += token;
      yield step("working", said);
    }
    yield step("completed", said);
  }
}
