import type { ConversationMessage, TaskContext } from "../../engine/agent/agent.ts";
import type { Part } from "../../protocol/part.ts";
import type { AssistantContent, ModelMessage, UserContent } from "./model-contract.ts";

/** How much of the conversation the model sees. */
export interface HistoryOptions {
  /** Messages of earlier tasks. Default 50; 0: none. */
  readonly limit?: number;
  /** About how many tokens of earlier messages; the oldest are left out. Default 8000. */
  readonly maxTokens?: number;
  /** Returns a summary of the messages that do not fit. It is called once, as a step. Default: they are left out. */
  readonly summarize?: (older: readonly ConversationMessage[], task: TaskContext) => Promise<string>;
}

const DEFAULT_LIMIT = 50;
const DEFAULT_TOKENS = 8000;
/** An estimate: English text has about 4 characters a token. */
const CHARACTERS_PER_TOKEN = 4;

/** The earlier messages of the conversation that fit the budget, after a summary of the others. */
export async function historyMessages(
  task: TaskContext,
  { limit = DEFAULT_LIMIT, maxTokens = DEFAULT_TOKENS, summarize }: HistoryOptions,
): Promise<readonly ModelMessage[]> {
  if (limit === 0) return [];
  const messages = await task.conversation({ limit });
  let left = maxTokens * CHARACTERS_PER_TOKEN;
  let first = messages.length;
  while (first > 0) {
    left -= textOfParts(messages[first - 1]?.parts ?? []).length;
    if (left < 0) break;
    first -= 1;
  }
  const kept = messages.slice(first).map(modelMessage);
  if (first === 0 || summarize === undefined) return kept;
  const summary = await task.step("summary", () => summarize(messages.slice(0, first), task));
  return [{ role: "system", content: `Summary of the conversation so far: ${summary}` }, ...kept];
}

/** The message of this turn, with its files. */
export function currentMessage(task: TaskContext): ModelMessage {
  return { role: "user", content: task.message.parts.map(userContent) };
}

function modelMessage({ role, parts }: ConversationMessage): ModelMessage {
  if (role === "user") return { role: "user", content: parts.map(userContent) };
  const content: AssistantContent[] = [{ type: "text", text: textOfParts(parts) }];
  return { role: "assistant", content };
}

function userContent(part: Part): UserContent {
  const { text, raw, url, mediaType = "application/octet-stream", filename } = part;
  if (raw === undefined && url === undefined) return { type: "text", text: text ?? JSON.stringify(part.data) };
  return {
    type: "file",
    mediaType,
    ...(filename !== undefined && { filename }),
    data: raw === undefined ? { type: "url", url: new URL(url ?? "") } : { type: "data", data: raw },
  };
}

function textOfParts(parts: readonly Part[]): string {
  return parts
    .map(({ text, url, data }) => text ?? url ?? (data === undefined ? "[file]" : JSON.stringify(data)))
    .join("");
}
