import { A2AError, invalidField } from "../../protocol/error.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json.ts";
import { readStatus, type StoredTask } from "../../protocol/serial.ts";
import type { ClientAbilities } from "./contract.ts";
import type { McpRequest } from "./face.ts";
import { readWholeTask } from "./follow-task.ts";
import { detailedTask, readMcpTaskId, type TaskName } from "./mcp-task.ts";
import { type AgentCaller, type CallOptions, callAgent } from "./operation.ts";
import { openQuestions } from "./questions.ts";
import { answerQuestions, cancelTask } from "./run-tool.ts";
import type { FollowedTask } from "./task-updates.ts";

/** A request of the tasks extension. */
export interface TaskCall extends CallOptions {
  readonly params: JsonObject;
  readonly client: ClientAbilities;
}

/** `tasks/get`: the task with its result, its error or its questions. */
export async function getMcpTask(request: McpRequest, call: TaskCall): Promise<JsonObject> {
  const { caller, name, task } = await readTask(request, call);
  const whole = task.large === undefined ? task : await readWholeTask(caller.service, caller.scope, name.id);
  return detailedTask(name.agent, whole, { settings: request.face.settings, client: call.client });
}

/** Authorizes the caller to read a task again and again. */
export async function openMcpTask(request: McpRequest, call: TaskCall): Promise<FollowedTask> {
  const { caller, name, task } = await readTask(request, call);
  const options = { settings: request.face.settings, client: call.client };
  const read = async (): Promise<JsonObject> =>
    detailedTask(name.agent, await readWholeTask(caller.service, caller.scope, name.id), options);
  return { caller, name, seq: task.seq, read };
}

async function readTask(request: McpRequest, call: TaskCall): Promise<CallerOfTask & { readonly task: StoredTask }> {
  const { caller, name } = await callerOfTask(request, call);
  const result = await caller.perform({ operation: "get", tenant: "", id: name.id, history: 0 });
  if (result.kind !== "task") throw new A2AError("internal", "Internal error");
  return { caller, name, task: result.task };
}

/** `tasks/update`: answers open questions. Responses to others are ignored: they have been answered. */
export async function updateMcpTask(request: McpRequest, call: TaskCall): Promise<void> {
  const { inputResponses } = call.params;
  if (!isJsonObject(inputResponses)) throw invalidField("inputResponses", "must be an object");
  const { caller, name } = await callerOfTask(request, call);
  const task = await readWholeTask(caller.service, caller.scope, name.id);
  const questions = openQuestions(readStatus(task.status));
  await answerQuestions(caller, task, { questions, responses: new Map(Object.entries(inputResponses)) });
}

/** `tasks/cancel`. A task that has ended stays as it is. */
export async function cancelMcpTask(request: McpRequest, call: TaskCall): Promise<void> {
  const { caller, name } = await callerOfTask(request, call);
  await cancelTask(caller, name.id);
}

interface CallerOfTask {
  readonly caller: AgentCaller;
  readonly name: TaskName;
}

async function callerOfTask(request: McpRequest, call: TaskCall): Promise<CallerOfTask> {
  const { taskId } = call.params;
  if (typeof taskId !== "string") throw invalidField("taskId", "must be a string");
  const name = readMcpTaskId(taskId);
  if (name === undefined) throw new A2AError("task-not-found", "Task not found");
  return { caller: await callAgent(request, name.agent, call), name };
}
