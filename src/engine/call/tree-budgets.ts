import type { Budget } from "../../protocol/calls/ancestry.ts";
import { type Counters, spentOf } from "../../protocol/calls/call-tree.ts";

interface Tree {
  /** Of the root; `undefined` if it is not in this process. */
  budget: Budget | undefined;
  /** By task: what it and the calls that it has finished have used. */
  readonly used: Map<string, Counters>;
}

/**
 * What the tasks of one tree that run in this process have used, while they run: a task sees what its siblings spend before they end. Tasks of other
 * processes are counted when they end. Only trees with a budget are in it.
 */
export class TreeBudgets {
  readonly #trees = new Map<string, Tree>();

  /** Sets what a task and its finished calls have used. `budget`: the task is the root. */
  set(root: string, task: string, { used, budget }: { readonly used: Counters; readonly budget?: Budget }): void {
    const tree = this.#trees.get(root) ?? { budget: undefined, used: new Map<string, Counters>() };
    this.#trees.set(root, tree);
    if (budget !== undefined) tree.budget = budget;
    tree.used.set(task, used);
  }

  /** The task has ended, and its parent has counted it or is not here. */
  remove(root: string, task: string): void {
    const tree = this.#trees.get(root);
    tree?.used.delete(task);
    if (tree?.used.size === 0 || root === task) this.#trees.delete(root);
  }

  /** What the tree may still use; no members if it has no budget here. */
  left(root: string): Budget {
    const tree = this.#trees.get(root);
    if (tree?.budget === undefined) return {};
    let tokens = 0;
    let cost = 0;
    for (const used of tree.used.values()) {
      const spent = spentOf(used);
      tokens += spent.tokens;
      cost += spent.cost;
    }
    return leftOf(tree.budget, { tokens, cost });
  }
}

/** What is left of a budget; negative if more was used. */
export function leftOf(budget: Budget, spent: Required<Budget>): Budget {
  return {
    ...(budget.tokens !== undefined && { tokens: budget.tokens - spent.tokens }),
    ...(budget.cost !== undefined && { cost: budget.cost - spent.cost }),
  };
}
