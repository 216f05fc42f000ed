import { isoTime } from "../../internal/iso-time.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { readTask, type StoredTask } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { messageObject } from "./message.ts";
import { partText } from "./part.ts";

/** The plain dialect has four states. A task that waits for its caller is `working`, because it has not ended. */
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

/** The last message of a task that ended unsuccessfully without one. */
const DEFAULT_TEXTS: Partial<Readonly<Record<TaskState, string>>> = {
  failed: "Task failed",
  canceled: "Task canceled",
  rejected: "Task rejected",
};

/**
 * Encodes a task in the plain dialect:
 * `{"id":"t1","state":"completed","messages":[{"role":"user","parts":[…]},…],"sessionId":"c1","createdAt":"…","updatedAt":"…"}`.
 */
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
 * All messages, oldest first, then the artifacts as one message of text: readers take the agent's last message as the answer. For the same
 * reason the status message of a task that failed or waits for its caller comes after the artifacts.
 */
function messagesOf({ status, history = [], artifacts = [] }: Task): object[] {
  const { state, message } = status;
  const artifactTexts = artifactMessages(artifacts);
  const others = history.filter(({ messageId }) => messageId !== message?.messageId);
  if (message === undefined) return [...history.map(messageObject), ...artifactTexts, ...defaultMessages(state)];
  if (isLast(state)) return [...others.map(messageObject), ...artifactTexts, messageObject(message)];
  const messages: readonly Message[] = others.length < history.length ? history : [...history, message];
  return [...messages.map(messageObject), ...artifactTexts];
}

/** Whether the status message of a task in this state must be the last message. */
function isLast(state: TaskState): boolean {
  return state !== "submitted" && state !== "working" && state !== "completed";
}

function defaultMessages(state: TaskState): object[] {
  const words = DEFAULT_TEXTS[state];
  return words === undefined ? [] : [agentMessage(words)];
}

/** At most one message, with one part. */
function artifactMessages(artifacts: readonly Artifact[]): object[] {
  const texts = artifacts.map(({ parts }) => artifactText(parts)).filter((text) => text !== "");
  return texts.length === 0 ? [] : [agentMessage(texts.join("\n\n"))];
}

/** Joins consecutive text parts as they are; every other part gets a line of its own. */
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
