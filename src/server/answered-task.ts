import { parseOwnJson } from "../internal/own-json.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { Scope } from "../protocol/principal.ts";
import { readStatus } from "../protocol/serial.ts";
import { toolResultOf } from "../protocol/tool-part.ts";
import type { Service } from "./service.ts";

/**
 * The task whose open question a message answers without saying that it goes on with it: it refers to that task and no other,
 * and brings the result that was asked for, by the question's own id. Where messages count once, one that comes again goes where it went.
 * Whatever else merely refers to tasks begins a new one.
 */
export async function answeredTask(
  { engine, onceWithin }: Pick<Service, "engine" | "onceWithin">,
  scope: Scope,
  message: Message,
): Promise<TaskId | undefined> {
  const [reference, ...others] = message.referenceTaskIds ?? [];
  if (message.taskId !== undefined || reference === undefined || others.length > 0) return undefined;
  const answers = message.parts.flatMap((part) => toolResultOf(part)?.toolUseId ?? []);
  if (answers.length === 0) return undefined;
  const history = onceWithin === undefined ? 0 : undefined;
  const task = await engine.snapshot(scope, reference, { artifacts: false, history });
  if (task?.history !== undefined && holds(task.history, message)) return reference;
  if (task?.state !== "input-required") return undefined;
  const asked = questionOf(readStatus(task.status).message);
  return asked !== undefined && answers.includes(asked) ? reference : undefined;
}

/** `history` is a JSON array. */
function holds(history: string, { messageId }: Message): boolean {
  return parseOwnJson<readonly Pick<Message, "messageId">[]>(history).some((said) => said.messageId === messageId);
}

/** The id of the question that a status message asks. */
function questionOf(message: Message | undefined): string | undefined {
  const request = message?.metadata?.["inputRequest"];
  const id = isJsonObject(request) ? request["requestId"] : undefined;
  return typeof id === "string" ? id : undefined;
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
