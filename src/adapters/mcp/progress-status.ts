import type { Progress } from "@modelcontextprotocol/client";
import type { TaskContext } from "../../engine/agent/agent.ts";

/** Status messages of one call. A server that reports without end must not fill the log. */
const MAX_REPORTS = 1000;
const MAX_TEXT = 1000;

/** Writes progress as the status of the task. While a status is being stored, only the latest report waits. */
export function progressStatus(task: TaskContext): { report(progress: Progress): void; settled(): Promise<void> } {
  let latest: Progress | undefined;
  let writing: Promise<void> | undefined;
  let count = 0;
  const write = async (): Promise<void> => {
    for (let next = latest; next !== undefined && count < MAX_REPORTS; next = latest) {
      latest = undefined;
      count += 1;
      const { progress, total, message } = next;
      const text = message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
      await task.status(text.slice(0, MAX_TEXT), { progress, ...(total !== undefined && { total }) });
    }
    writing = undefined;
  };
  return {
    report(progress) {
      latest = progress;
      // A task that has ended needs no status any more.
      writing ??= write().catch(() => {});
    },
    async settled() {
      await writing;
    },
  };
}
