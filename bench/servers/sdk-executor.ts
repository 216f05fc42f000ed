import { type Artifact, Role, type Task, TaskState, type TaskStatus } from "a2a-sdk-v1";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "a2a-sdk-v1/server";
import { ANSWER, produce, readWorkload } from "./workload.ts";

/** The bench's agent, written for the official SDK. */
export function createExecutor(): AgentExecutor {
  return { execute, cancelTask: () => Promise.resolve() };
}

async function execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
  const { taskId, contextId } = request;
  bus.publish(AgentEvent.task(newTask(request)));
  const workload = readWorkload(textOf(request));
  if (workload.kind === "wait") return new Promise(() => undefined);
  const publish = (text: string, append: boolean) =>
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: artifactOf(text),
        append,
        lastChunk: false,
        metadata: undefined,
      }),
    );
  if (workload.kind === "answer") {
    publish(ANSWER, false);
  } else {
    let append = false;
    for await (const text of produce(workload)) {
      publish(text, append);
      append = true;
    }
  }
  bus.publish(
    AgentEvent.statusUpdate({
      taskId,
      contextId,
      status: statusOf(TaskState.TASK_STATE_COMPLETED),
      metadata: undefined,
    }),
  );
  bus.finished();
}

function newTask({ taskId, contextId, userMessage }: RequestContext): Task {
  return {
    id: taskId,
    contextId,
    status: statusOf(TaskState.TASK_STATE_WORKING),
    artifacts: [],
    history: [{ ...userMessage, role: Role.ROLE_USER }],
    metadata: undefined,
  };
}

export function statusOf(state: TaskState, timestamp: string = new Date().toISOString()): TaskStatus {
  return { state, message: undefined, timestamp };
}

export function artifactOf(text: string): Artifact {
  return {
    artifactId: "result",
    name: "result",
    description: "",
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    metadata: undefined,
    extensions: [],
  };
}

function textOf({ userMessage }: RequestContext): string {
  const content = userMessage.parts[0]?.content;
  return content?.$case === "text" ? content.value : "";
}
