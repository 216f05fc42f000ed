import type { Operation } from "../../protocol/operation.ts";

/** The JSON-RPC method of each operation (A2A 0.1 §7); `undefined` for operations that later versions added. */
export const METHOD_OF: Readonly<Record<Operation, string | undefined>> = {
  send: "tasks/send",
  stream: "tasks/sendSubscribe",
  get: "tasks/get",
  list: undefined,
  cancel: "tasks/cancel",
  subscribe: "tasks/resubscribe",
  "push-create": "tasks/pushNotification/set",
  "push-get": "tasks/pushNotification/get",
  "push-list": undefined,
  "push-delete": undefined,
  "extended-card": undefined,
};
