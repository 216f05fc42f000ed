import type { TaskState } from "../src/protocol/state.ts";

/**
 * One task of the seeded database. Its content depends only on its number, so the bench knows the content of every
 * page.
 */
export interface SeededTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** The time of its status; rises with the number. */
  readonly at: number;
}

const FIRST_AT = Date.UTC(2026, 0, 1);
const SPACING_MS = 250;
const STATES: readonly TaskState[] = [
  ...Array<TaskState>(14).fill("completed"),
  "failed",
  "failed",
  "canceled",
  "rejected",
  "input-required",
  "input-required",
];

/** The context of a tenth of all tasks. */
export const BUSY_CONTEXT: string = contextId(0xffff_ffff);
const TASKS_PER_CONTEXT = 32;

export function seededTask(index: number): SeededTask {
  // Distributes states and contexts irregularly, so that no filter matches a regular pattern.
  const mixed = Math.imul(index + 1, 0x9e37_79b1) >>> 0;
  return {
    id: taskId(index),
    contextId: mixed % 10 === 0 ? BUSY_CONTEXT : contextId(Math.floor(index / TASKS_PER_CONTEXT)),
    state: STATES[(mixed >>> 12) % STATES.length] ?? "completed",
    at: seededAt(index),
  };
}

export function seededAt(index: number): number {
  return FIRST_AT + index * SPACING_MS;
}

function taskId(index: number): string {
  const time = seededAt(index).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${index.toString(16).padStart(12, "0")}`;
}

function contextId(index: number): string {
  return `0190a000-0000-7000-9000-${index.toString(16).padStart(12, "0")}`;
}
