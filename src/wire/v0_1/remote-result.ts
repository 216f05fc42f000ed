import type { Operation } from "../../protocol/operation.ts";
import type { RemoteResult } from "../client/client-codec.ts";
import { asObject, member } from "../fields/fields.ts";
import { decodeRemoteResult as decodeNewer, type RemoteReaders } from "../v0_3/remote-result.ts";
import { decodeCard } from "./card.ts";
import { decodeRemoteEvent } from "./event.ts";
import { decodeRemoteTask } from "./task.ts";

const READERS: RemoteReaders = { task: decodeRemoteTask, event: decodeRemoteEvent, card: decodeCard };

/** Decodes the result of an operation. */
export function decodeRemoteResult(operation: Operation, value: unknown): RemoteResult {
  switch (operation) {
    case "send":
    case "stream":
      return { kind: "sent", task: decodeRemoteTask(value, "result") };
    case "push-create":
    case "push-get":
      return decodePushResult(operation, value);
    default:
      return decodeNewer(operation, value, READERS);
  }
}

/** The member `id` is the task's id. If the task has no webhook, the result or its `pushNotificationConfig` is `null`. */
function decodePushResult(operation: "push-create" | "push-get", value: unknown): RemoteResult {
  const owner = asObject(value ?? {}, "result");
  const { id: taskId, ...rest } = owner;
  if (member(rest, "pushNotificationConfig") === undefined) return { kind: "done" };
  return decodeNewer(operation, { taskId, ...rest }, READERS);
}
