import { randomUUID } from "node:crypto";
import { A2AError } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import { answerMetadata } from "../../protocol/input-request.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { OperationResult, SendRequest } from "../../protocol/operation.ts";
import type { Part } from "../../protocol/part.ts";
import { readStatus, type StoredTask } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { callerKey } from "../rate-limit/request-limits.ts";
import { errorResult, resultOfMessage, textBlock } from "./content.ts";
import type { ClientAbilities, InputRequestOfServer, ToolResult } from "./contract.ts";
import type { McpRequest } from "./face.ts";
import { followTask, readWholeTask } from "./follow-task.ts";
import { mcpTaskId, type TaskName, toolResultOf } from "./mcp-task.ts";
import { type AgentCaller, type CallOptions, callAgent } from "./operation.ts";
import {
  namedKeys,
  type OpenQuestion,
  openQuestions,
  questionsAsText,
  readResponse,
  requestsFor,
} from "./questions.ts";
import { readToolInput } from "./tools/tool-input.ts";
import type { AgentTool } from "./tools/tools.ts";

/** One call of a tool that is an agent. */
export interface ToolCall extends CallOptions {
  readonly args: JsonObject;
  readonly client: ClientAbilities;
  /** Responses to the questions of an earlier answer, by their keys. */
  readonly responses: JsonObject;
  /** The task of an earlier answer, which this call continues. */
  readonly resumed: TaskName | undefined;
  readonly progress?: ((seq: number, text: string) => void) | undefined;
}

export type ToolOutcome =
  | { readonly kind: "result"; readonly result: ToolResult }
  /** The call takes long: the client polls the task. */
  | { readonly kind: "task"; readonly agent: string; readonly task: StoredTask }
  /** The agent asks something that the client can show. */
  | {
      readonly kind: "input";
      readonly agent: string;
      readonly task: StoredTask;
      readonly requests: Readonly<Record<string, InputRequestOfServer>>;
    };

/**
 * Calls the agent of a tool, or continues an earlier call, until it ends, asks something or takes too long. Rejects with an `A2AError`. If the client gives
 * up, the task is canceled: nobody knows its id.
 */
export async function runTool(request: McpRequest, tool: AgentTool, call: ToolCall): Promise<ToolOutcome> {
  const caller = await callAgent(request, tool.agent, call);
  const { streams, environment } = request.face.endpoint;
  const place = streams.admit(callerKey(request.principal, environment.remoteOf(request.exchange)));
  let task: StoredTask | undefined;
  try {
    const begun = await begin(caller, tool, call);
    if (begun.kind === "replied") return { kind: "result", result: resultOfMessage(begun.message) };
    task = begun.task;
    return await untilAnswered(caller, { request, tool, call, task });
  } catch (thrown) {
    if (call.signal.aborted && task !== undefined && !streams.isClosed) {
      await caller.service.engine.cancel(caller.scope, task.id).catch(() => undefined);
    }
    throw thrown;
  } finally {
    place.release();
  }
}

type Begun = Extract<OperationResult, { kind: "replied" }> | { readonly kind: "task"; readonly task: StoredTask };

async function begin(caller: AgentCaller, tool: AgentTool, call: ToolCall): Promise<Begun> {
  const { resumed, args } = call;
  if (resumed !== undefined)
    return { kind: "task", task: await readWholeTask(caller.service, caller.scope, resumed.id) };
  const { parts, contextId } = readToolInput(tool, args);
  const { skill } = tool;
  const result = await caller.perform(
    sendRequest({
      ...messageOf(parts),
      // Safe cast: ids are opaque strings.
      ...(contextId !== undefined && { contextId: contextId as ContextId }),
      ...(skill !== undefined && { metadata: { skillId: skill } }),
    }),
  );
  if (result.kind === "replied") return result;
  return { kind: "task", task: taskOf(result) };
}

interface Progressing {
  readonly request: McpRequest;
  readonly tool: AgentTool;
  readonly call: ToolCall;
  readonly task: StoredTask;
}

async function untilAnswered(caller: AgentCaller, progressing: Progressing): Promise<ToolOutcome> {
  const { request, tool, call } = progressing;
  const { agent } = caller;
  const { settings } = request.face;
  const mayBeTask = call.client.tasks && tool.tasks !== "never";
  const started = performance.now();
  let { task } = progressing;
  const unused = new Map(Object.entries(call.responses));
  for (;;) {
    if (isTerminal(task.state)) return { kind: "result", result: toolResultOf(await whole(caller, task)) };
    if (mayBeTask && tool.tasks === "required") return { kind: "task", agent, task };
    if (isInterrupted(task.state)) {
      const questions = openQuestions(readStatus(task.status));
      const answered = await answerQuestions(caller, task, { questions, responses: unused });
      if (answered === undefined) return asked(caller, task, { questions, client: call.client });
      task = answered;
      continue;
    }
    const waitMs = mayBeTask ? Math.max(0, settings.taskAfterMs - (performance.now() - started)) : undefined;
    if (waitMs === 0) return { kind: "task", agent, task };
    const { signal, progress } = call;
    task = await followTask(caller.service, caller.scope, { task, options: { signal, waitMs, progress } });
    if (isTerminal(task.state) || isInterrupted(task.state) || mayBeTask) continue;
    throw new A2AError("unavailable", "The server is shutting down", { retryAfter: 1 });
  }
}

/** A task that was returned by a send may lack large members. */
async function whole(caller: AgentCaller, task: StoredTask): Promise<StoredTask> {
  return task.large === undefined ? task : readWholeTask(caller.service, caller.scope, task.id);
}

interface Answering {
  readonly questions: readonly OpenQuestion[];
  /** By key. Used responses are removed. */
  readonly responses: Map<string, unknown>;
}

/** Sends the responses that belong to open questions. `undefined`: there are none. */
export async function answerQuestions(
  caller: AgentCaller,
  task: StoredTask,
  { questions, responses }: Answering,
): Promise<StoredTask | undefined> {
  const keyOf = namedKeys(questions);
  let current: StoredTask | undefined;
  for (const question of questions) {
    const key = [question.id, keyOf(question)].find((name) => responses.has(name));
    if (key === undefined) continue;
    const response = readResponse(question, responses.get(key));
    responses.delete(key);
    if (response.kind === "invalid") continue;
    if (response.kind === "declined") {
      await cancelTask(caller, task.id);
      return readWholeTask(caller.service, caller.scope, task.id);
    }
    current = await sendAnswer(caller, task.id, { question, parts: response.parts });
  }
  return current;
}

/** Answers one question. Returns the task once the question is no longer open. */
export async function sendAnswer(
  caller: AgentCaller,
  taskId: TaskId,
  { question, parts }: { readonly question: Pick<OpenQuestion, "id" | "isNamed">; readonly parts: readonly Part[] },
): Promise<StoredTask> {
  const metadata = question.isNamed ? { metadata: answerMetadata(question.id) } : {};
  const result = await caller.perform(sendRequest({ ...messageOf(parts), taskId, ...metadata }));
  return taskOf(result);
}

/** Cancels a task; a task that has ended stays as it is. */
export async function cancelTask(caller: AgentCaller, id: TaskId): Promise<void> {
  try {
    await caller.perform({ operation: "cancel", tenant: "", id, metadata: {} });
  } catch (thrown) {
    if (!(thrown instanceof A2AError && thrown.code === "task-not-cancelable")) throw thrown;
  }
}

interface Asking {
  readonly questions: readonly OpenQuestion[];
  readonly client: ClientAbilities;
}

function asked({ agent }: AgentCaller, task: StoredTask, { questions, client }: Asking): ToolOutcome {
  const requests = requestsFor(questions, client, namedKeys(questions));
  if (Object.keys(requests).length > 0) return { kind: "input", agent, task, requests };
  const id = mcpTaskId({ agent, id: task.id });
  const text = questionsAsText(questions, id);
  return {
    kind: "result",
    result: { content: [textBlock(text)], _meta: { "a2a/taskId": task.id, "a2a/waiting": true } },
  };
}

function messageOf(parts: readonly Part[]): Message {
  // Safe cast: ids are opaque strings.
  return { messageId: randomUUID() as MessageId, role: "user", parts };
}

/** Waits only until the message is stored. */
function sendRequest(message: Message): SendRequest & { readonly operation: "send" } {
  return { operation: "send", tenant: "", message, metadata: {}, outputModes: [], history: 0, waitMs: 0 };
}

function taskOf(result: OperationResult): StoredTask {
  if (result.kind !== "sent")
    throw new A2AError("internal", "Internal error", { cause: new Error(`Unexpected result: ${result.kind}`) });
  return result.task;
}

/** Errors that are for the client program, not for the model that called the tool. */
const PROTOCOL_ERRORS: ReadonlySet<string> = new Set([
  "unauthenticated",
  "permission-denied",
  "rate-limited",
  "internal",
  "task-not-found",
]);

/** The result that tells the model what is wrong; throws errors that are for the client program. */
export function errorOutcome(thrown: unknown): ToolOutcome {
  if (!(thrown instanceof A2AError) || PROTOCOL_ERRORS.has(thrown.code)) throw thrown;
  return { kind: "result", result: errorResult(thrown.message) };
}
