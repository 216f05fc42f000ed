import type { AgentCard } from "../../protocol/card.ts";
import { invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import type { RemoteEvent, RemotePushConfig, RemoteResult } from "../client/client-codec.ts";
import { decodeRemotePushConfig } from "../client/remote-push-config.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, type WireObject } from "../fields/fields.ts";

/** The readers of one style. */
export interface RemoteReaders {
  task(value: unknown, path: string): Task;
  event(value: unknown): RemoteEvent;
  card(value: unknown): AgentCard;
}

/** What an agent answered, in either style. */
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

/** The first answer of a stream is the same as the only one of a send. */
function decodeSent(event: RemoteEvent): RemoteResult {
  if (event.kind === "task") return { kind: "sent", task: event.task };
  if (event.kind === "message") return { kind: "replied", message: event.message };
  throw invalidField("result", "must be a task or a message");
}

/** Bare in JSON-RPC and in the text of REST, a page in the definition of the service. */
function listIn(value: unknown, name: string): unknown {
  return Array.isArray(value) ? value : member(asObject(value ?? {}, "result"), name);
}

/** Some agents say no more than that they have it. */
function decodePushResult(wire: WireObject): RemoteResult {
  if (member(wire, "success") === true && member(wire, "pushNotificationConfig") === undefined) return { kind: "done" };
  return { kind: "push-config", config: decodePushConfig(wire, "result") };
}

/** What is between the names of the two collections, whatever slashes it has. */
const RESOURCE_NAME = /^tasks\/(.+?)(?:\/pushNotification(?:Config)?s\/.*)?$/s;

/** Below the task it belongs to, which is named by its id or, as a resource, by a path. */
function decodePushConfig(owner: WireObject, path: string): RemotePushConfig {
  const [, named] = RESOURCE_NAME.exec(textOf(member(owner, "name"), `${path}.name`)) ?? [];
  const taskId = textOf(member(owner, "taskId") ?? named, `${path}.taskId`) as TaskId;
  return { taskId, ...decodeRemotePushConfig(owner, path) };
}
