import { readdirSync, readFileSync } from "node:fs";
import { NotMeasurable } from "../scenario.ts";

/** Groups of a server's threads. `helpers`: V8's threads that collect garbage and compile. */
export const THREADS = ["main", "writer", "helpers", "other"] as const;
export type Thread = (typeof THREADS)[number];

/** Microseconds of processor time, by group of threads. */
export type ThreadTimes = Readonly<Record<Thread, number>>;

/**
 * The processor time that each thread of a process has used since its start, from `/proc/PID/task/TID/schedstat` (Linux).
 * Throws {@link NotMeasurable} elsewhere.
 */
export function readThreadTimes(pid: number): ThreadTimes {
  const times: Record<Thread, number> = { main: 0, writer: 0, helpers: 0, other: 0 };
  for (const thread of threadsOf(pid)) {
    const folder = `/proc/${pid}/task/${thread}`;
    try {
      const nanoseconds = Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]);
      const name = readFileSync(`${folder}/comm`, "utf8").trim();
      times[groupOf(name, Number(thread) === pid)] += nanoseconds / 1000;
    } catch {
      // The thread has ended since the folder was read.
    }
  }
  return times;
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (cause) {
    throw new NotMeasurable("Processor time by thread needs /proc/PID/task, which only Linux has.", { cause });
  }
}

function groupOf(name: string, isMain: boolean): Thread {
  if (isMain) return "main";
  if (name.startsWith("V8Worker")) return "helpers";
  return name === "palaver-store" ? "writer" : "other";
}

/** The time of each group between two readings, divided by the number of operations. */
export function perOperation(before: ThreadTimes, after: ThreadTimes, operations: number): ThreadTimes {
  const each = (thread: Thread) => (after[thread] - before[thread]) / operations;
  return { main: each("main"), writer: each("writer"), helpers: each("helpers"), other: each("other") };
}

export function total(times: ThreadTimes): number {
  return THREADS.reduce((sum, thread) => sum + times[thread], 0);
}
