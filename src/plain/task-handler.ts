import { pathSegment } from "../wire/fields/path-segment.ts";
import { askServer } from "./ask-server.ts";
import { NotFoundError } from "./errors.ts";
import { forgetTasks, isForgotten, rememberServer, rememberTask, sentTo } from "./known-servers.ts";
import { forgetProcessTasks, processTask, sendToProcess } from "./process-tasks.ts";
import type { A2ATask, A2ATaskDeps, A2ATaskSendRequest } from "./types.ts";

/**
 * Sends a message to an agent. Resolves with the task as soon as the server has stored it, usually before the agent has finished. Rejects with a
 * `ValidationError` if the request is invalid, with a `NotFoundError` if the agent or task does not exist (`Agent with default project` if
 * `deps` names no agent and none declares a `defaultProjectId`), and with an `A2AError` for other errors of the server. With a `processManager`, the
 * task is kept in memory, and the returned object changes with it.
 */
export async function handleTaskSend(deps: A2ATaskDeps, body: A2ATaskSendRequest): Promise<A2ATask> {
  if ("processManager" in deps) return sendToProcess(deps, body);
  rememberServer(deps);
  // Safe: a response of this package's own server.
  const task = (await askServer(deps, "/a2a/tasks/send", body ?? null)) as A2ATask;
  rememberTask(task.id, deps);
  return task;
}

/**
 * Reads a task; `null` if it does not exist. Without `deps` it finds the tasks that {@link handleTaskSend} has sent in this process, except those sent with
 * headers. With `deps` it finds all of the caller's tasks on that server.
 */
export function handleTaskGet(taskId: string): Promise<A2ATask | null>;
export function handleTaskGet(deps: A2ATaskDeps, taskId: string): Promise<A2ATask | null>;
export async function handleTaskGet(first: string | A2ATaskDeps, second?: string): Promise<A2ATask | null> {
  const [deps, taskId = ""] = typeof first === "string" ? [sentTo(first), first] : [first, second];
  const managed = processTask(taskId);
  if (managed !== undefined || (deps !== undefined && "processManager" in deps)) return managed ?? null;
  const path = deps === undefined ? undefined : taskPath(taskId);
  if (deps === undefined || path === undefined) return null;
  rememberServer(deps);
  try {
    // Safe: as above.
    const task = (await askServer(deps, path)) as A2ATask;
    return isForgotten(task.id, task.createdAt) ? null : task;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** `undefined` if the id cannot be a task id. */
function taskPath(taskId: string): string | undefined {
  try {
    const segment = pathSegment(taskId, "taskId");
    // A task with the id `send` must not be confused with the path of `tasks/send`.
    return `/a2a/tasks/${segment === "send" ? "%73end" : segment}`;
  } catch {
    return undefined;
  }
}

/**
 * Forgets the tasks of this process: {@link handleTaskGet} no longer finds earlier tasks, with or without `deps`. The server keeps them, continues to
 * work on them, and serves them over HTTP.
 */
export function clearTaskStore(): void {
  forgetTasks();
  forgetProcessTasks();
}
