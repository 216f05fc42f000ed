import { expect } from "vitest";
import { textAt } from "./exchange.ts";
import { ID, TIME } from "./matchers.ts";

/** The expected objects of 0.2 and 0.3: tasks, messages and events with `kind`. */

export interface Ids {
  readonly taskId: string;
  readonly contextId: string;
}

/** The ids of the task that opens a stream. */
export function idsOf(task: unknown): Ids {
  return { taskId: textAt(task, "id"), contextId: textAt(task, "contextId") };
}

export const textPart = (text: string): object => ({ kind: "text", text });

/** A caller's message with one text. */
export function userMessage(text: string, more: object = {}): object {
  return { kind: "message", role: "user", parts: [textPart(text)], messageId: crypto.randomUUID(), ...more };
}

/** A message of the agent. */
export function agentMessage(ids: Ids, text: string, more: object = {}): object {
  return { kind: "message", role: "agent", messageId: ID, parts: [textPart(text)], ...ids, ...more };
}

/** A status event that continues or ends a task's stream. */
export function statusUpdate(
  ids: Ids,
  state: string,
  more: { message?: object; final?: boolean; metadata?: object } = {},
): object {
  const { message, final = false, metadata } = more;
  return {
    kind: "status-update",
    ...ids,
    status: { state, timestamp: TIME, ...(message !== undefined && { message }) },
    final,
    ...(metadata !== undefined && { metadata }),
  };
}

/** An artifact chunk. Members that would be `false` are omitted. */
export function artifactUpdate(ids: Ids, artifact: object, flags: { append?: true; lastChunk?: true } = {}): object {
  return { kind: "artifact-update", ...ids, artifact, ...flags };
}

const KINDS: readonly unknown[] = ["task", "message", "status-update", "artifact-update"];

/** Throws unless `kind` is the first member of every object that has it, at any depth. */
export function expectKindFirst(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const [first] = Object.keys(value);
  if ("kind" in value && KINDS.includes(value.kind)) expect(first, JSON.stringify(value)).toBe("kind");
  for (const member of Object.values(value)) expectKindFirst(member);
}
