import { pathSegment } from "../wire/fields/path-segment.ts";
import { askServer } from "./ask-server.ts";
import { NotFoundError } from "./errors.ts";
import { forgetTasks, isForgotten, rememberServer, rememberTask, sentTo } from "./known-servers.ts";
import type { A2ATask, A2ATaskDeps, A2ATaskSendRequest } from "./types.ts";

/**
 * Gives an agent something to do, and resolves with the task as soon as it is safe, mostly before the agent is done with it.
 * Rejects with a `ValidationError` for a request that makes no sense, with a `NotFoundError` if there is no agent or task to take
 * it (`Agent with default project` where `deps` names no agent and none declares a `defaultProjectId`), and with an `A2AError` for what else a server may refuse.
 */
export async function handleTaskSend(deps: A2ATaskDeps, body: A2ATaskSendRequest): Promise<A2ATask> {
  rememberServer(deps);
  // Safe: an answer of this package's own server.
  const task = (await askServer(deps, "/a2a/tasks/send", body ?? null)) as A2ATask;
  rememberTask(task.id, deps);
  return task;
}

/**
 * The task as it is now; `null` if there is none. Without `deps`, of the tasks that {@link handleTaskSend} has sent in this
 * process, but for those sent with headers of their own; with `deps`, of all that the server has for that caller.
 */
export function handleTaskGet(taskId: string): Promise<A2ATask | null>;
export function handleTaskGet(deps: A2ATaskDeps, taskId: string): Promise<A2ATask | null>;
export async function handleTaskGet(first: string | A2ATaskDeps, second?: string): Promise<A2ATask | null> {
  const [deps, taskId = ""] = typeof first === "string" ? [sentTo(first), first] : [first, second];
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

/** `undefined`: no task can be called that. */
function taskPath(taskId: string): string | undefined {
  try {
    const segment = pathSegment(taskId, "taskId");
    // A task of that name is not to be taken for the way to send one.
    return `/a2a/tasks/${segment === "send" ? "%73end" : segment}`;
  } catch {
    return undefined;
  }
}

/**
 * Clears the tasks that this process knows: {@link handleTaskGet} finds none from before, with or without `deps`. The server itself keeps its
 * tasks, which go on, and serves them over HTTP.
 */
export function clearTaskStore(): void {
  forgetTasks();
}
