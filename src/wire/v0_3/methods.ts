import { OPERATIONS, type Operation } from "../../protocol/operation.ts";

/** The JSON-RPC method of each operation. JSON-RPC 0.3 has no method to list tasks (A2A 0.3 §3.5.6). */
export const METHOD_OF: MethodNames = {
  send: "message/send",
  stream: "message/stream",
  get: "tasks/get",
  list: undefined,
  cancel: "tasks/cancel",
  subscribe: "tasks/resubscribe",
  "push-create": "tasks/pushNotificationConfig/set",
  "push-get": "tasks/pushNotificationConfig/get",
  "push-list": "tasks/pushNotificationConfig/list",
  "push-delete": "tasks/pushNotificationConfig/delete",
  "extended-card": "agent/getAuthenticatedExtendedCard",
};

/** The JSON-RPC method of each operation; `undefined`: the version has none. */
export type MethodNames = Readonly<Record<Operation, string | undefined>>;

/** A2A 0.2 §7.10 names this method; some clients call it. */
const ALIASES: readonly (readonly [string, Operation])[] = [["agent/authenticatedExtendedCard", "extended-card"]];

/** The operation of each method. Lenient: includes the aliases. */
export function operationsOf(names: MethodNames, lenient: boolean): ReadonlyMap<string | undefined, Operation> {
  const operations = new Map<string | undefined, Operation>(lenient ? ALIASES : []);
  for (const operation of OPERATIONS) if (names[operation] !== undefined) operations.set(names[operation], operation);
  return operations;
}
