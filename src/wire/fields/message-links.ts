import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { member, optionalId, optionalJsonObject, optionalStrings, type WireObject } from "./fields.ts";

type Links = Omit<Message, "messageId" | "role" | "parts">;

/** Older spellings of names, for versions that have them. */
export type Aliases = Readonly<Record<"contextId" | "taskId" | "referenceTaskIds", string>>;
export const SNAKE_CASE: Aliases = {
  contextId: "context_id",
  taskId: "task_id",
  referenceTaskIds: "reference_task_ids",
};

/** What a message says of tasks, context and extensions. Ids are branded here, where they enter. */
export function decodeLinks(wire: WireObject, path: string, aliases?: Aliases): Links {
  const links: { -readonly [Name in keyof Links]: Links[Name] } = {};
  const contextId = optionalId(member(wire, "contextId", aliases?.contextId), `${path}.contextId`);
  if (contextId !== undefined) links.contextId = contextId as ContextId;
  const taskId = optionalId(member(wire, "taskId", aliases?.taskId), `${path}.taskId`);
  if (taskId !== undefined) links.taskId = taskId as TaskId;
  const references = member(wire, "referenceTaskIds", aliases?.referenceTaskIds);
  const referenceTaskIds = optionalStrings(references, `${path}.referenceTaskIds`) ?? [];
  if (referenceTaskIds.length > 0) links.referenceTaskIds = referenceTaskIds as TaskId[];
  const extensions = optionalStrings(member(wire, "extensions"), `${path}.extensions`) ?? [];
  if (extensions.length > 0) links.extensions = extensions;
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  if (metadata !== undefined) links.metadata = metadata;
  return links;
}
