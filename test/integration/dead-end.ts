import type { TaskContext } from "../../src/engine/agent/agent.ts";
import type { Task } from "../../src/protocol/task.ts";

/** A place in a run from which it does not come back: there the process dies. */
export interface DeadEnd {
  /** How often a run came here. */
  readonly reached: number;
  /** With a task, only after what it wrote is committed. */
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

/** The text of one of the artifacts. */
export function textOf(task: Task, name = "result"): string | undefined {
  return task.artifacts
    ?.find(({ artifactId }) => artifactId === name)
    ?.parts.map(({ text }) => text)
    .join("");
}
