import type { TaskContext } from "../../../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import { type Part, textOf } from "../../../protocol/part.ts";

/** A question that was answered before the program was started again. */
export interface AnsweredQuestion {
  readonly ask: string;
  readonly name?: string;
  readonly answer: JsonValue;
}

/** The first line on standard input: the message, the ids of the task, what was said before, and the answers to earlier questions. */
export function startLine(task: TaskContext, answers: readonly AnsweredQuestion[]): string {
  const earlier = task.history.filter(({ messageId }) => messageId !== task.message.messageId);
  return lineOf({
    message: messageOf(task.message),
    taskId: task.id,
    contextId: task.contextId,
    attempt: task.attempt,
    ...(task.skillId !== undefined && { skillId: task.skillId }),
    ...(Object.keys(task.metadata).length > 0 && { metadata: task.metadata }),
    history: earlier.map((message) => ({ role: message.role, ...messageOf(message) })),
    answers: answers.map((answer) => ({ ...answer })),
  });
}

export function answerLine(answer: JsonValue): string {
  return lineOf({ answer });
}

/** `null`: there is no further message. */
export function messageLine(message: Message | undefined): string {
  return lineOf({ message: message === undefined ? null : messageOf(message) });
}

function messageOf({ parts }: Message): JsonObject {
  const data = parts.find((part) => part.data !== undefined)?.data;
  const files = parts.filter((part) => part.raw !== undefined || part.url !== undefined).map(fileOf);
  return { text: textOf(parts), ...(data !== undefined && { data }), ...(files.length > 0 && { files }) };
}

/** `bytes` is base64. */
function fileOf({ raw, url, filename, mediaType }: Part): JsonObject {
  return {
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mediaType }),
    ...(raw !== undefined && { bytes: raw }),
    ...(url !== undefined && { url }),
  };
}

function lineOf(members: JsonObject): string {
  return `${JSON.stringify(members)}\n`;
}
