import { A2AError } from "../protocol/error.ts";

/** Also for a task of somebody else, which must look the same. */
export function taskNotFound(taskId: string): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId } });
}

export function pushNotSupported(): A2AError {
  return new A2AError("push-not-supported", "This agent does not send push notifications");
}

export function streamingNotSupported(): A2AError {
  return new A2AError("unsupported-operation", "This agent does not stream");
}
