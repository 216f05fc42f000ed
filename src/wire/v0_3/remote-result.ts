import type { AgentCard } from "../../protocol/card.ts";
import { invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import type { RemoteEvent, RemotePushConfig, RemoteResult } from "../client/client-codec.ts";
import { decodeRemotePushConfig } from "../client/remote-push-config.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, type WireObject } from "../fields/fields.ts";

/** The readers of one style or version. */
export interface RemoteReaders {
  task(value: unknown, path: string): Task;
  event(value: unknown): RemoteEvent;
  card(value: unknown): AgentCard;
}

/** Decodes the result of an operation, in either style. */
export function decodeRemoteResult(operation: Operation, value: unknown, readers: RemoteReaders): RemoteResult {
  switch (operation) {
    case "send":
    case "stream":
      return decodeSent(readers.event(value));
    case "get":
    case "cancel":
    case "subscribe":
      return { kind: "task", task: readers.task(member(asObject(value, "result"), "task") ?? value, "result") };
    case "list": {
      const tasks = listOf(listIn(value, "tasks"), "result", (item, path) => readers.task(item, path));
      return { kind: "tasks", tasks, total: tasks.length, pageSize: tasks.length, nextPageToken: "" };
    }
    case "push-create":
    case "push-get":
      return decodePushResult(asObject(value, "result"));
    case "push-list":
      return {
        kind: "push-configs",
        configs: listOf(listIn(value, "configs"), "result", (item, path) =>
          decodePushConfig(asObject(item, path), path),
        ),
        nextPageToken: "",
      };
    case "push-delete":
      return { kind: "done" };
    case "extended-card":
      return { kind: "card", card: readers.card(value) };
  }
}

/** A send returns the same objects as the first frame of a stream. */
function decodeSent(event: RemoteEvent): RemoteResult {
  if (event.kind === "task") return { kind: "sent", task: event.task };
  if (event.kind === "message") return { kind: "replied", message: event.message };
  throw invalidField("result", "must be a task or a message");
}

/** An array in JSON-RPC and in the text of REST; an object with a member `name` in the proto definition. */
function listIn(value: unknown, name: string): unknown {
  return Array.isArray(value) ? value : member(asObject(value ?? {}, "result"), name);
}

/** Some agents answer only `{"success": true}`. */
function decodePushResult(wire: WireObject): RemoteResult {
  if (member(wire, "success") === true && member(wire, "pushNotificationConfig") === undefined) return { kind: "done" };
  return { kind: "push-config", config: decodePushConfig(wire, "result") };
}

/** `tasks/{task}/pushNotificationConfigs/{id}`. Captures the task id, which may contain slashes. */
const RESOURCE_NAME = /^tasks\/(.+?)(?:\/pushNotification(?:Config)?s\/.*)?$/s;

/** The task is identified by `taskId` or by the resource `name`. */
function decodePushConfig(owner: WireObject, path: string): RemotePushConfig {
  const [, nameId] = RESOURCE_NAME.exec(textOf(member(owner, "name"), `${path}.name`)) ?? [];
  const taskId = textOf(member(owner, "taskId") ?? nameId, `${path}.taskId`) as TaskId;
  return { taskId, ...decodeRemotePushConfig(owner, path) };
}
