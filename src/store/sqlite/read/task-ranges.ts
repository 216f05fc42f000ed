import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { IndexRange } from "./task-index.ts";

/** Chooses the index for the tasks of a scope, a context, an agent, a parent or a root. */
export class TaskRanges {
  readonly #isCounted: StatementSync;

  constructor(database: DatabaseSync) {
    this.#isCounted = database.prepare("SELECT 1 FROM counter WHERE scope = ? AND context = ? LIMIT 1");
  }

  ofScope(scope: number, state: number | undefined): IndexRange {
    return { index: "task_by_state", key: ["scope", scope], conditions: [], byState: true, state };
  }

  ofContext(scope: number, context: string, state: number | undefined): IndexRange {
    const key = ["scope", scope] as const;
    const inContext = ["context = ?", context] as const;
    if (state === undefined || !this.isCounted(scope, context))
      return { index: "task_by_context", key, conditions: [inContext], byState: false, state };
    return { index: "task_by_context_state", key, conditions: [inContext, ["counted = 1"]], byState: true, state };
  }

  /** The context has counters and an index by state. A context that no caller named has one task and neither of them. */
  isCounted(scope: number, context: string): boolean {
    return this.#isCounted.get(scope, context) !== undefined;
  }
}

export function rangeOfAgent(agent: number, state: number | undefined): IndexRange {
  return { index: "task_by_agent", key: ["agent", agent], conditions: [], byState: true, state };
}

export function rangeOfParent(parent: string, state: number | undefined): IndexRange {
  return { index: "task_by_parent", key: ["parent", parent], conditions: [], byState: true, state };
}

export function rangeOfRoot(root: string, state: number | undefined): IndexRange {
  return { index: "task_by_root", key: ["root", root], conditions: [], byState: true, state };
}
