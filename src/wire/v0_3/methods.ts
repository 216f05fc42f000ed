import { OPERATIONS, type Operation } from "../../protocol/operation.ts";

/** What JSON-RPC calls each operation. Tasks cannot be listed in this version. */
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

export type MethodNames = Readonly<Record<Operation, string | undefined>>;

/** As the text of this version, and of the one before, has it in one place. */
const ALIASES: readonly (readonly [string, Operation])[] = [["agent/authenticatedExtendedCard", "extended-card"]];

/** The operations by their methods; read liberally, also by other names that are about. */
export function operationsOf(names: MethodNames, lenient: boolean): ReadonlyMap<string | undefined, Operation> {
  const operations = new Map<string | undefined, Operation>(lenient ? ALIASES : []);
  for (const operation of OPERATIONS) if (names[operation] !== undefined) operations.set(names[operation], operation);
  return operations;
}
