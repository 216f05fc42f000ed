import type { DatabaseSync, StatementSync } from "node:sqlite";
import { firstTaskRange, IS_FIRST_TASK } from "../row/first-task.ts";
import { LAST_MERGED_SCOPE } from "../scope-ids.ts";
import type { IndexRange } from "./task-index.ts";

/** Chooses the index for the tasks of a scope, a context, an agent, a parent or a root. */
export class TaskRanges {
  readonly #isCounted: StatementSync;
  readonly #firstTask: StatementSync;

  constructor(database: DatabaseSync) {
    this.#isCounted = database.prepare("SELECT 1 FROM counter WHERE scope = ? AND context = ? LIMIT 1");
    this.#firstTask = database.prepare(`SELECT pk, scope FROM task WHERE ${IS_FIRST_TASK}`);
  }

  ofScope(scope: number, state: number | undefined): IndexRange {
    return { index: "task_by_state", key: ["scope", scope], conditions: [], byState: true, state };
  }

  ofContext(scope: number, context: string, state: number | undefined): IndexRange {
    const key = ["scope", scope] as const;
    const inContext = ["context = ?", context] as const;
    if (!this.isCounted(scope, context)) {
      const first = this.#firstOf(context);
      // The only task of the context.
      if (first?.scope === scope)
        return { index: undefined, key: ["pk", first.pk], conditions: [], byState: false, state };
    } else if (state !== undefined)
      return { index: "task_by_context_state", key, conditions: [inContext, ["counted = 1"]], byState: true, state };
    return { index: "task_by_context", key, conditions: [inContext, ["counted < 2"]], byState: false, state };
  }

  /** The context has counters and an index by state. A context that no caller named has one task and neither of them. */
  isCounted(scope: number, context: string): boolean {
    return this.#isCounted.get(scope, context) !== undefined;
  }

  /** The scope of the task that is not in the index by context. */
  scopeOfFirst(context: string): number | undefined {
    return this.#firstOf(context)?.scope;
  }

  #firstOf(context: string): { readonly pk: number; readonly scope: number } | undefined {
    const row = this.#firstTask.get(...firstTaskRange(context), context);
    return row && { pk: Number(row["pk"]), scope: Number(row["scope"]) };
  }
}

/** Without the tasks of the scopes up to {@link LAST_MERGED_SCOPE}. */
export function rangeOfAgent(agent: number, state: number | undefined): IndexRange {
  const conditions = [[`scope > ${LAST_MERGED_SCOPE}`]] as const;
  return { index: "task_by_agent", key: ["agent", agent], conditions, byState: true, state };
}

export function rangeOfParent(parent: string, state: number | undefined): IndexRange {
  return { index: "task_by_parent", key: ["parent", parent], conditions: [], byState: true, state };
}

export function rangeOfRoot(root: string, state: number | undefined): IndexRange {
  return { index: "task_by_root", key: ["root", root], conditions: [], byState: true, state };
}
