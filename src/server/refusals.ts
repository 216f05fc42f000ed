import { A2AError } from "../protocol/error.ts";

/** Also for a task of another owner, which must be indistinguishable from one that does not exist. */
export function taskNotFound(taskId: string): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId } });
}

/** For calls to an agent that does not exist. */
export function agentNotFound(missing: string): A2AError {
  return new A2AError("method-not-found", `${missing} not found`, { metadata: { resource: missing } });
}

export function pushNotSupported(): A2AError {
  return new A2AError("push-not-supported", "Push notifications are not supported by this agent");
}

export function streamingNotSupported(): A2AError {
  return new A2AError("unsupported-operation", "This agent does not stream", {
    metadata: { capability: "streaming" },
  });
}
