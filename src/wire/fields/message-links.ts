import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { member, optionalId, optionalJsonObject, optionalStrings, type WireObject } from "./fields.ts";

type Links = Omit<Message, "messageId" | "role" | "parts">;

/** snake_case names, for versions that accept them. */
export type Aliases = Readonly<Record<"contextId" | "taskId" | "referenceTaskIds", string>>;
/** For 1.0 and the proto style of 0.3. */
export const SNAKE_CASE: Aliases = {
  contextId: "context_id",
  taskId: "task_id",
  referenceTaskIds: "reference_task_ids",
};

/** The context, tasks, extensions and metadata of a message. Empty lists are left out. Ids get their branded types here. */
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
