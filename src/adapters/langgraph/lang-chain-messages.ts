import { base64Of } from "../frameworks/base64-of.ts";
import type { ConversationMessage } from "../frameworks/conversation.ts";
import type { UserContent } from "../models/model-contract.ts";

/** A message that LangGraph accepts as a member of `messages`. */
export interface LangChainMessage {
  readonly role: "user" | "assistant";
  readonly content: string | readonly LangChainContent[];
  readonly id?: string;
}

/** Standard content blocks of LangChain 1. */
type LangChainContent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "video" | "file";
      readonly mimeType: string;
      readonly data?: string;
      readonly url?: string;
    };

/**
 * The conversation as messages of LangChain. The last one has the id of the caller's message, so that the graph keeps one copy if it gets the message
 * again after a crash.
 */
export function langChainMessages(
  conversation: readonly ConversationMessage[],
  messageId: string,
): readonly LangChainMessage[] {
  const last = conversation.length - 1;
  return conversation.map((message, index) => {
    const content = message.role === "user" ? message.content.map(userBlock) : textBlocks(message.content);
    const isText = content.every((block) => block.type === "text");
    return {
      role: message.role,
      content: isText ? content.map((block) => ("text" in block ? block.text : "")).join("\n") : content,
      ...(index === last && { id: messageId }),
    };
  });
}

function textBlocks(
  content: Extract<ConversationMessage, { readonly role: "assistant" }>["content"],
): LangChainContent[] {
  return content.flatMap((part) => (part.type === "text" ? [part] : []));
}

const KINDS = ["image", "audio", "video"] as const;

function userBlock(part: UserContent): LangChainContent {
  if (part.type === "text") return part;
  const type = KINDS.find((kind) => part.mediaType.startsWith(`${kind}/`)) ?? "file";
  const source = part.data.type === "data" ? { data: base64Of(part.data.data) } : { url: part.data.url.href };
  return { type, mimeType: part.mediaType, ...source };
}
