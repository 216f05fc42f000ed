import type { ConversationMessage, TaskContext } from "../../engine/agent/agent.ts";
import type { Part } from "../../protocol/part.ts";
import type { AssistantContent, FileContent, ModelMessage, UserContent } from "./model-contract.ts";

/** How much of the conversation the model sees. */
export interface HistoryOptions {
  /** Messages of earlier tasks. Default 50; 0: none. */
  readonly limit?: number;
  /** About how many tokens of earlier messages; the oldest are left out. Default 8000. */
  readonly maxTokens?: number;
  /** Whether the model gets the files of earlier messages (`inline`) or only their names (`name`). Default `name`. */
  readonly files?: "name" | "inline";
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
  { limit = DEFAULT_LIMIT, maxTokens = DEFAULT_TOKENS, files = "name", summarize }: HistoryOptions,
): Promise<readonly ModelMessage[]> {
  if (limit === 0) return [];
  const messages = await task.conversation({ limit, files });
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
  const text = textOfParts(parts.filter((part) => fileContent(part) === undefined));
  const content: AssistantContent[] = text === "" ? [] : [{ type: "text", text }];
  return { role: "assistant", content: [...content, ...parts.flatMap((part) => fileContent(part) ?? [])] };
}

function userContent(part: Part): UserContent {
  return fileContent(part) ?? { type: "text", text: part.text ?? part.url ?? JSON.stringify(part.data) };
}

/** A file of a message; `undefined` for other parts, and for a reference that is no URL. */
function fileContent({ raw, url, mediaType, filename }: Part): FileContent | undefined {
  if (raw === undefined && (url === undefined || !URL.canParse(url))) return undefined;
  return {
    type: "file",
    mediaType: mediaType ?? guessedType(filename ?? url ?? ""),
    ...(filename !== undefined && { filename }),
    data: raw === undefined ? { type: "url", url: new URL(url ?? "") } : { type: "data", data: raw },
  };
}

const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
};

/** Callers may leave out the media type. */
function guessedType(name: string): string {
  const extension = /\.(\w+)(?:[?#].*)?$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return TYPES[extension] ?? "application/octet-stream";
}

function textOfParts(parts: readonly Part[]): string {
  return parts
    .map(({ text, url, data }) => text ?? url ?? (data === undefined ? "[file]" : JSON.stringify(data)))
    .join("");
}
