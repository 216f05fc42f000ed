import type { AgentCard } from "../protocol/card.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { writeEvent, writeMessage, writeStatus } from "../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../protocol/state.ts";
import type { Task, TaskStatus } from "../protocol/task.ts";
import { encodeCard } from "./v1_0/card.ts";
import { pushObject } from "./v1_0/push.ts";
import { encodeStateFilter, UNSPECIFIED } from "./v1_0/task.ts";

/**
 * Encodes protocol objects as JSON of 1.0, without line breaks, whatever version they were received in. For output to users and other
 * programs, such as the CLI's.
 */
export const officialJson: OfficialJson = {
  card: encodeCard,
  task: taskText,
  message: writeMessage,
  sent: (sent) => ("task" in sent ? `{"task":${taskText(sent.task)}}` : `{"message":${writeMessage(sent.message)}}`),
  event: eventText,
  tasks({ tasks, nextPageToken, pageSize, totalSize }) {
    const page = `"nextPageToken":${JSON.stringify(nextPageToken)},"pageSize":${pageSize},"totalSize":${totalSize}`;
    return `{"tasks":[${tasks.map(taskText).join(",")}],${page}}`;
  },
  pushConfig: (taskId, config) => JSON.stringify(pushObject(taskId, config)),
  pushConfigs: (taskId, configs) =>
    JSON.stringify({ configs: configs.map((config) => pushObject(taskId, config)), nextPageToken: "" }),
};

/** Each method returns the object of that name in A2A 1.0 as JSON text. */
export interface OfficialJson {
  card(card: AgentCard): string;
  task(task: Task): string;
  message(message: Message): string;
  /** The result of `SendMessage`. */
  sent(sent: { readonly task: Task } | { readonly message: Message }): string;
  /** One event of a stream. Status and artifact events need the task for its ids. */
  event(
    event:
      | { readonly kind: "task"; readonly task: Task }
      | { readonly kind: "message"; readonly message: Message }
      | (TaskEvent & { readonly task: Task }),
  ): string;
  /** The result of `ListTasks` (A2A 1.0 §3.1.4). */
  tasks(page: {
    readonly tasks: readonly Task[];
    readonly nextPageToken: string;
    readonly pageSize: number;
    readonly totalSize: number;
  }): string;
  /** A `TaskPushNotificationConfig`. Secrets are written as they are: pass a masked config if they must not be shown. */
  pushConfig(taskId: string, config: PushConfig): string;
  pushConfigs(taskId: string, configs: readonly PushConfig[]): string;
}

/** The name of a state in 1.0. `TASK_STATE_UNSPECIFIED` if the agent sent no state, although the model then has `working`. */
export function officialState({ state, isUnspecified }: Pick<TaskStatus, "state" | "isUnspecified">): string {
  return isUnspecified === true ? UNSPECIFIED : encodeStateFilter(state);
}

/** Parses a state in any notation: `completed`, `COMPLETED`, `input_required`, `TASK_STATE_COMPLETED`. `undefined` if unknown. */
export function stateNamed(text: string): TaskState | undefined {
  const name = text
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^task-state-/, "");
  return TASK_STATES.find((state) => state === name);
}

function taskText({ id, contextId, status, artifacts, history, metadata, generation }: Task): string {
  let text = `{"id":${JSON.stringify(id)},"contextId":${JSON.stringify(contextId)},"status":${withUnspecifiedState(writeStatus(status), status)}`;
  if (artifacts !== undefined) text += `,"artifacts":${JSON.stringify(artifacts)}`;
  if (history !== undefined) text += `,"history":[${history.map(writeMessage).join(",")}]`;
  if (metadata !== undefined) text += `,"metadata":${JSON.stringify(metadata)}`;
  // Only agents of 1.1 send it.
  if (generation !== undefined) text += `,"generation":"${generation}"`;
  return `${text}}`;
}

function eventText(event: Parameters<OfficialJson["event"]>[0]): string {
  if (event.kind === "task") return `{"task":${taskText(event.task)}}`;
  if (event.kind === "message") return `{"message":${writeMessage(event.message)}}`;
  const { task, ...bare } = event;
  const ids = `"taskId":${JSON.stringify(task.id)},"contextId":${JSON.stringify(task.contextId)}`;
  const member = event.kind === "status" ? "statusUpdate" : "artifactUpdate";
  const text = bare.kind === "status" ? withUnspecifiedState(writeEvent(bare), bare.status) : writeEvent(bare);
  return `{"${member}":{${ids},${text.slice(1)}}`;
}

/** Replaces the state, which is the first member of a written status. */
function withUnspecifiedState(text: string, { state, isUnspecified }: TaskStatus): string {
  return isUnspecified === true ? text.replace(encodeStateFilter(state), UNSPECIFIED) : text;
}
