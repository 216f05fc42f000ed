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
 * The types of the newest version of the protocol as JSON text without line breaks, for whoever shows them to others, whichever
 * version they came in.
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

export interface OfficialJson {
  card(card: AgentCard): string;
  task(task: Task): string;
  message(message: Message): string;
  /** The answer to a message. */
  sent(sent: { readonly task: Task } | { readonly message: Message }): string;
  /** One event of a stream. What concerns a task comes with it. */
  event(
    event:
      | { readonly kind: "task"; readonly task: Task }
      | { readonly kind: "message"; readonly message: Message }
      | (TaskEvent & { readonly task: Task }),
  ): string;
  tasks(page: {
    readonly tasks: readonly Task[];
    readonly nextPageToken: string;
    readonly pageSize: number;
    readonly totalSize: number;
  }): string;
  pushConfig(taskId: string, config: PushConfig): string;
  pushConfigs(taskId: string, configs: readonly PushConfig[]): string;
}

/** The state as the newest version writes it, and as the agent said it: one that does not say it is not said to be at work. */
export function officialState({ state, isUnspecified }: Pick<TaskStatus, "state" | "isUnspecified">): string {
  return isUnspecified === true ? UNSPECIFIED : encodeStateFilter(state);
}

/** The state that somebody means: `completed`, `COMPLETED`, `input_required` or `TASK_STATE_COMPLETED`. */
export function stateNamed(text: string): TaskState | undefined {
  const name = text
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^task-state-/, "");
  return TASK_STATES.find((state) => state === name);
}

function taskText({ id, contextId, status, artifacts, history, metadata }: Task): string {
  let text = `{"id":${JSON.stringify(id)},"contextId":${JSON.stringify(contextId)},"status":${withUnspecifiedState(writeStatus(status), status)}`;
  if (artifacts !== undefined) text += `,"artifacts":${JSON.stringify(artifacts)}`;
  if (history !== undefined) text += `,"history":[${history.map(writeMessage).join(",")}]`;
  if (metadata !== undefined) text += `,"metadata":${JSON.stringify(metadata)}`;
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

/** The state is the first that is written of a status. */
function withUnspecifiedState(text: string, { state, isUnspecified }: TaskStatus): string {
  return isUnspecified === true ? text.replace(encodeStateFilter(state), UNSPECIFIED) : text;
}
