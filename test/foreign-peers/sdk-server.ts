import { randomUUID } from "node:crypto";
import { type Asked, noRoute, type Reply, serveScript } from "./http-script.ts";
import { elementsOf, type Json } from "./json.ts";
import type { RunningPeer } from "./peer.ts";

/** One run of an agent, as the official 0.3 server library passes it to frameworks built on it. */
export interface Execution {
  readonly taskId: string;
  readonly contextId: string;
  readonly message: Json;
  /** The task that the message refers to. */
  readonly task: Json;
  /** Aborts when the caller closes the connection. */
  readonly left: AbortSignal;
  publish(event: Json): void;
}

export interface SdkServerOptions {
  readonly cardPath: string;
  readonly rpcPath: string;
  card(url: string): Json;
  execute(execution: Execution): Promise<void>;
  /** Returns the task after the cancel, or throws. */
  cancel(task: Json): Json;
}

/** Starts a server that answers like that library: Express, tasks in memory, streams that end with a final status. */
export function serveSdk(options: SdkServerOptions): Promise<RunningPeer> {
  const tasks = new Map<string, Json>();
  return serveScript((asked) => {
    if (asked.method === "GET" && asked.path === options.cardPath)
      return { status: 200, json: options.card(asked.url) };
    if (asked.method !== "POST" || asked.path !== options.rpcPath) return noRoute(asked);
    return answerRpc(options, tasks, asked);
  });
}

async function answerRpc(options: SdkServerOptions, tasks: Map<string, Json>, asked: Asked): Promise<Reply> {
  const { id, method, params } = asked.body;
  const fail = (code: number, message: string): Reply => ({
    status: 200,
    json: { jsonrpc: "2.0", id, error: { code, message } },
  });
  if (method === "message/stream") return { frames: frames(id, run(options, tasks, asked)) };
  if (method === "message/send") {
    let last: Json;
    for await (const event of run(options, tasks, asked)) last = event;
    const result = last.kind === "message" ? last : tasks.get(last.kind === "task" ? last.id : last.taskId);
    return { status: 200, json: { jsonrpc: "2.0", id, result } };
  }
  if (method !== "tasks/get" && method !== "tasks/cancel") return fail(-32601, `Method not found: ${method}`);
  const task = tasks.get(params.id);
  if (task === undefined) return fail(-32001, `Task not found: ${params.id}`);
  if (method === "tasks/get") return { status: 200, json: { jsonrpc: "2.0", id, result: task } };
  try {
    const canceled = options.cancel(task);
    tasks.set(params.id, canceled);
    return { status: 200, json: { jsonrpc: "2.0", id, result: canceled } };
  } catch (error) {
    return fail(-32603, String(error));
  }
}

async function* frames(id: Json, events: AsyncIterable<Json>): AsyncGenerator<string> {
  for await (const result of events)
    yield `id: ${Date.now()}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
}

/** The events of one execution until a message, a final status, or its end. */
async function* run(options: SdkServerOptions, tasks: Map<string, Json>, asked: Asked): AsyncGenerator<Json> {
  const { message } = asked.body.params;
  const task = message.taskId === undefined ? undefined : tasks.get(message.taskId);
  const taskId: string = message.taskId ?? randomUUID();
  const contextId: string = message.contextId ?? task?.contextId ?? randomUUID();
  const queue: Json[] = [];
  let wake = Promise.withResolvers<void>();
  let hasEnded = false;
  const publish = (event: Json): void => {
    fold(tasks, event);
    queue.push(event);
    wake.resolve();
  };
  const received = { ...message, taskId, contextId };
  if (task !== undefined) tasks.set(taskId, { ...task, history: [...elementsOf(task.history), received] });
  const execution = { taskId, contextId, message: received, task, left: asked.left, publish };
  void options.execute(execution).then(
    () => {
      hasEnded = true;
      wake.resolve();
    },
    // The library does not know the id of the agent's task, and generates another id for the failure.
    (error: unknown) => {
      const id: string = task?.id ?? randomUUID();
      const parts = [
        { kind: "text", text: `Agent execution error: ${error instanceof Error ? error.message : "unknown"}` },
      ];
      const said = { kind: "message", role: "agent", messageId: randomUUID(), parts, contextId };
      const status = { state: "failed", message: said, timestamp: new Date().toISOString() };
      if (asked.body.method === "message/send") publish({ kind: "task", id, contextId, status, history: [received] });
      publish({ kind: "status-update", taskId: id, contextId, status, final: true });
      hasEnded = true;
    },
  );
  while (!asked.left.aborted) {
    const event = queue.shift();
    if (event !== undefined) {
      yield event;
      if (event.kind === "message" || (event.kind === "status-update" && event.final === true)) return;
    } else if (hasEnded) {
      return;
    } else {
      await wake.promise;
      wake = Promise.withResolvers();
    }
  }
}

/** Updates the stored task with an event, as the library does. */
function fold(tasks: Map<string, Json>, event: Json): void {
  if (event.kind === "task") return void tasks.set(event.id, event);
  const task = tasks.get(event.taskId);
  if (task === undefined) return;
  if (event.kind === "status-update") {
    const { message } = event.status;
    const history = message === undefined ? task.history : [...elementsOf(task.history), message];
    tasks.set(event.taskId, { ...task, status: event.status, history });
    return;
  }
  const artifacts = elementsOf(task.artifacts);
  const known: Json = artifacts.find(({ artifactId }) => artifactId === event.artifact.artifactId);
  const parts: Json[] =
    event.append && known !== undefined ? [...known.parts, ...event.artifact.parts] : event.artifact.parts;
  const others = artifacts.filter((artifact) => artifact !== known);
  tasks.set(event.taskId, { ...task, artifacts: [...others, { ...event.artifact, parts }] });
}

/** The input for the agent of `server-script.ts` from a 0.3 message. */
export function heardIn(message: Json): { readonly text: string; readonly fileBytes: number } {
  let text = "";
  let fileBytes = 0;
  for (const part of elementsOf(message.parts)) {
    if (part.kind === "text") text += part.text;
    if (part.kind === "file" && typeof part.file.bytes === "string") fileBytes += atob(part.file.bytes).length;
  }
  return { text, fileBytes };
}
