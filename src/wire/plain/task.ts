import { isoTime } from "../../internal/iso-time.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { readTask, type StoredTask } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { messageObject } from "./message.ts";
import { partText } from "./part.ts";

/** The four states of this dialect, and what becomes of the others: who waits for its caller has not ended. */
const STATES: Readonly<Record<TaskState, "submitted" | "working" | "completed" | "failed">> = {
  submitted: "submitted",
  working: "working",
  "input-required": "working",
  "auth-required": "working",
  completed: "completed",
  failed: "failed",
  canceled: "failed",
  rejected: "failed",
};

/** What a task says that came to a bad end without a word. */
const DEFAULT_TEXTS: Partial<Readonly<Record<TaskState, string>>> = {
  failed: "Task failed",
  canceled: "Task canceled",
  rejected: "Task rejected",
};

/** A task as this dialect writes it. */
export function encodeTask(stored: StoredTask): string {
  const task = readTask(stored);
  const { state, timestamp } = task.status;
  return JSON.stringify({
    id: task.id,
    state: STATES[state],
    messages: messagesOf(task),
    sessionId: task.contextId,
    createdAt: stored.createdAt === undefined ? timestamp : isoTime(stored.createdAt),
    updatedAt: timestamp,
  });
}

/**
 * Everything said, oldest first, and at the end what was made, as text: readers take the last message of the agent for the
 * answer. For that reason the words of a task that failed or waits for its caller come after what it has made so far.
 */
function messagesOf({ status, history = [], artifacts = [] }: Task): object[] {
  const { state, message } = status;
  const made = artifactMessages(artifacts);
  const others = history.filter(({ messageId }) => messageId !== message?.messageId);
  if (message === undefined) return [...history.map(messageObject), ...made, ...defaultMessages(state)];
  if (isLast(state)) return [...others.map(messageObject), ...made, messageObject(message)];
  const said: readonly Message[] = others.length < history.length ? history : [...history, message];
  return [...said.map(messageObject), ...made];
}

function isLast(state: TaskState): boolean {
  return state !== "submitted" && state !== "working" && state !== "completed";
}

function defaultMessages(state: TaskState): object[] {
  const words = DEFAULT_TEXTS[state];
  return words === undefined ? [] : [agentMessage(words)];
}

/** One message at most, of one part. */
function artifactMessages(artifacts: readonly Artifact[]): object[] {
  const texts = artifacts.map(({ parts }) => artifactText(parts)).filter((text) => text !== "");
  return texts.length === 0 ? [] : [agentMessage(texts.join("\n\n"))];
}

/** Pieces of text run on, as they were written; everything else has a line of its own. */
function artifactText(parts: readonly Part[]): string {
  const lines: string[] = [];
  let text = "";
  for (const part of parts) {
    if (part.text !== undefined) {
      text += part.text;
      continue;
    }
    lines.push(text, partText(part));
    text = "";
  }
  return [...lines, text].filter((line) => line !== "").join("\n");
}

function agentMessage(text: string): object {
  return { role: "agent", parts: [{ type: "text", text }] };
}
