import type { Operation, OperationResult } from "../../protocol/operation.ts";
import { writeMessage } from "../../protocol/serial.ts";
import type { Codec } from "../codec.ts";
import { encodePageToken } from "../page-token.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { decodeRequest } from "./request.ts";
import { encodeTask } from "./task.ts";

const METHODS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["SendMessage", "send"],
  ["SendStreamingMessage", "stream"],
  ["GetTask", "get"],
  ["ListTasks", "list"],
  ["CancelTask", "cancel"],
  ["SubscribeToTask", "subscribe"],
  ["CreateTaskPushNotificationConfig", "push-create"],
  ["GetTaskPushNotificationConfig", "push-get"],
  ["ListTaskPushNotificationConfigs", "push-list"],
  // As the release candidates spelt it.
  ["ListTaskPushNotificationConfig", "push-list"],
  ["DeleteTaskPushNotificationConfig", "push-delete"],
  ["GetExtendedAgentCard", "extended-card"],
]);

/** Version 1.0, as JSON-RPC and REST carry it. */
export const codec: Codec = {
  version: "1.0",
  policy: { closeOnInputRequired: true, terminalSubscribe: "error", repeatCancel: "snapshot" },
  operationOf: (method) => METHODS.get(method),
  decodeRequest,
  encodeResult,
  encodeOpening,
  encodeEvent,
  encodeError,
  encodeCard,
};

function encodeResult(result: OperationResult): string {
  switch (result.kind) {
    case "sent":
      return `{"task":${encodeTask(result.task)}}`;
    case "replied":
      return `{"message":${writeMessage(result.message)}}`;
    case "task":
      return encodeTask(result.task);
    case "tasks": {
      const token = result.next === undefined ? "" : encodePageToken(result.next);
      const page = `"nextPageToken":"${token}","pageSize":${result.pageSize},"totalSize":${result.total}`;
      return `{"tasks":[${result.tasks.map(encodeTask).join(",")}],${page}}`;
    }
    case "card":
      return encodeCard(result.card);
  }
}
