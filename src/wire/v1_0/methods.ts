import type { Operation } from "../../protocol/operation.ts";

/** The JSON-RPC method of each operation (A2A 1.0 §9.4). */
export const METHOD_OF: Readonly<Record<Operation, string>> = {
  send: "SendMessage",
  stream: "SendStreamingMessage",
  get: "GetTask",
  list: "ListTasks",
  cancel: "CancelTask",
  subscribe: "SubscribeToTask",
  "push-create": "CreateTaskPushNotificationConfig",
  "push-get": "GetTaskPushNotificationConfig",
  "push-list": "ListTaskPushNotificationConfigs",
  "push-delete": "DeleteTaskPushNotificationConfig",
  "extended-card": "GetExtendedAgentCard",
};
