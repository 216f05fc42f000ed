import { parseOwnJson } from "../internal/own-json.ts";
import type { TaskId } from "../protocol/ids.ts";
import { inputRequestsOf } from "../protocol/input-request.ts";
import type { Message } from "../protocol/message.ts";
import type { Scope } from "../protocol/principal.ts";
import { readStatus } from "../protocol/serial.ts";
import { toolResultOf } from "../protocol/tool-part.ts";
import type { Service } from "./service.ts";

/**
 * The task whose open question a message answers without a `taskId`: the message refers to exactly this task, and contains a result with the
 * id of one of its open questions. Within the idempotency window, a repeated message finds the same task again. Any other message that
 * refers to tasks starts a new one.
 */
export async function answeredTask(
  { engine, idempotencyWindow }: Pick<Service, "engine" | "idempotencyWindow">,
  scope: Scope,
  message: Message,
): Promise<TaskId | undefined> {
  const [reference, ...others] = message.referenceTaskIds ?? [];
  if (message.taskId !== undefined || reference === undefined || others.length > 0) return undefined;
  const answers = message.parts.flatMap((part) => toolResultOf(part)?.toolUseId ?? []);
  if (answers.length === 0) return undefined;
  const history = idempotencyWindow === undefined ? 0 : undefined;
  const task = await engine.snapshot(scope, reference, { artifacts: false, history });
  if (task?.history !== undefined && holds(task.history, message)) return reference;
  if (task?.state !== "input-required") return undefined;
  const asked = inputRequestsOf(readStatus(task.status).message);
  return asked.some(({ requestId }) => answers.includes(requestId)) ? reference : undefined;
}

/** `history` is a JSON array. */
function holds(history: string, { messageId }: Message): boolean {
  return parseOwnJson<readonly Pick<Message, "messageId">[]>(history).some((said) => said.messageId === messageId);
}
