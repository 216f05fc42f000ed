import type { TaskContext } from "../../src/engine/agent/agent.ts";
import type { Task } from "../../src/protocol/task.ts";

/** A point of a run that never returns: the process is killed there. */
export interface DeadEnd {
  /** How often a run has reached this point. */
  readonly reached: number;
  /** With a task, waits until its writes are committed. */
  enter(task?: TaskContext): Promise<never>;
}

export function deadEnd(): DeadEnd {
  let reached = 0;
  return {
    get reached() {
      return reached;
    },
    async enter(task) {
      await task?.flush();
      reached += 1;
      return new Promise<never>(() => {});
    },
  };
}

/** The text of an artifact. */
export function textOf(task: Task, name = "result"): string | undefined {
  return task.artifacts
    ?.find(({ artifactId }) => artifactId === name)
    ?.parts.map(({ text }) => text)
    .join("");
}
