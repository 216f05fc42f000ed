import { randomId } from "../internal/random-id.ts";
import { CALL_PATH_KEY, NO_CALL_PATH } from "../protocol/call-path.ts";
import type { ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import type { Said, SendOptions } from "./api.ts";

/** What a message belongs to. Empty ids count as none. */
export interface Links {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

/** The whole message: what was left out is made up. Links given beside it win over those in it. */
export function messageOf(said: Said, links: Links = {}): Message {
  const given: Partial<Message> & { readonly parts: readonly Part[] } = isMessage(said)
    ? said
    : { parts: partsOf(said) };
  const taskId = links.taskId || given.taskId;
  const contextId = links.contextId || given.contextId;
  return {
    ...given,
    messageId: given.messageId ?? (randomId() as MessageId),
    role: given.role ?? "user",
    ...(taskId !== undefined && { taskId: taskId as TaskId }),
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
  };
}

function isMessage(said: Said): said is Exclude<Said, string | Part | readonly Part[]> {
  return typeof said === "object" && !Array.isArray(said) && "parts" in said;
}

function partsOf(said: Exclude<Said, { readonly parts: unknown }>): readonly Part[] {
  if (typeof said === "string") return [{ text: said }];
  return isList(said) ? said : [said];
}

function isList(said: Part | readonly Part[]): said is readonly Part[] {
  return Array.isArray(said);
}

export interface SendDetails {
  readonly operation: SendRequest["operation"];
  readonly tenant: string;
  readonly waitMs: number;
}

export function sendRequest(message: Message, options: SendOptions, details: SendDetails): SendRequest {
  const { metadata = {}, callPath = NO_CALL_PATH } = options;
  return {
    ...details,
    message,
    metadata: callPath.length > 0 ? { ...metadata, [CALL_PATH_KEY]: callPath } : metadata,
    outputModes: options.outputModes ?? [],
    history: options.historyLength,
    ...(options.push !== undefined && { push: options.push }),
    ...(callPath.length > 0 && { callPath }),
  };
}
