import { type Ancestry, type Budget, CALLS, lowerBudget } from "../../protocol/calls/ancestry.ts";
import {
  addCounters,
  type CalledTask,
  type CallRelations,
  type Counters,
  callRelationsOf,
  countersIn,
  MAX_SHOWN_CHILDREN,
  reportedUsage,
  spentOf,
} from "../../protocol/calls/call-tree.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { isTerminal } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { CallLimits } from "../agent/call-types.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { mergeMetadata, readMetadata } from "../log/task-metadata.ts";
import type { JournalEntry } from "../record/journal.ts";
import { callerOf } from "../record/runner-record.ts";
import type { CallGuard } from "./call-guard.ts";
import type { Callees, CallOrigin, OpenChild } from "./callee.ts";
import { leftOf, type TreeBudgets } from "./tree-budgets.ts";

/** States of calls that have not ended. */
const OPEN_STATES: readonly string[] = ["submitted", "working", "input-required", "auth-required"];

/** What `task.usage` was called with. */
export interface ReportedUsage {
  readonly model: string | undefined;
  readonly counters: readonly (readonly [name: string, value: number])[];
}

/** What all calls of one process share. */
export interface CallEnvironment {
  readonly callees: Callees;
  readonly guard: CallGuard;
  readonly budgets: TreeBudgets;
  readonly limitsOf: (agent: string) => CallLimits;
  /** This process, and its time in milliseconds since 1970: for the journal. */
  readonly node: string;
  readonly now: () => number;
  /** A call has ended: `completed`, or the code of its error. For metrics. */
  readonly onCall?: ((agent: string, outcome: string) => void) | undefined;
  /** A task has used something. For metrics. */
  readonly onUsage?: ((agent: string, usage: ReportedUsage) => void) | undefined;
}

/** The tasks that one task has called: which are open, which are shown, and what they have used. */
export class ChildTasks {
  readonly #writer: TaskLogWriter;
  readonly #calls: CallEnvironment;
  /** By key: cancels that are under way. */
  readonly #abandoned = new Map<string, Promise<void>>();
  /** By key: the calls that began in this process, as the journal has them. */
  readonly #begun = new Map<string, JournalEntry>();

  constructor(writer: TaskLogWriter, calls: CallEnvironment) {
    this.#writer = writer;
    this.#calls = calls;
  }

  get limits(): CallLimits {
    return this.#calls.limitsOf(this.#writer.ref.scope.agent);
  }

  get ancestry(): Ancestry | undefined {
    return this.#writer.runner.ancestry;
  }

  /** The id that callers know. */
  get id(): string {
    return publicTaskId(this.#writer.ref.id);
  }

  get root(): string {
    return this.ancestry?.root ?? this.id;
  }

  get origin(): CallOrigin {
    const { ref, runner } = this.#writer;
    return {
      scope: ref.scope,
      caller: callerOf(runner),
      dialect: ref.dialect,
      trace: runner.trace,
      deadline: this.deadline,
    };
  }

  /** When the whole tree must have ended. */
  get deadline(): number | undefined {
    const { limitAt } = this.#writer.runner;
    const above = this.ancestry?.deadline;
    return limitAt === undefined || above === undefined ? (limitAt ?? above) : Math.min(limitAt, above);
  }

  get opened(): readonly OpenChild[] {
    return this.#writer.runner.children ?? [];
  }

  open(child: OpenChild): void {
    this.#set([...this.opened.filter(({ key }) => key !== child.key), child]);
  }

  close(key: string): void {
    if (this.opened.some((child) => child.key === key)) this.#set(this.opened.filter((child) => child.key !== key));
  }

  /** Cancels a called task, and counts what it has used if it ends soon. Writes nothing if the run may not write any more. */
  abandon(key: string): Promise<void> {
    let pending = this.#abandoned.get(key);
    if (pending === undefined) {
      pending = this.#abandon(key).finally(() => this.#abandoned.delete(key));
      this.#abandoned.set(key, pending);
    }
    return pending;
  }

  /** Cancels all called tasks that are open. */
  async abandonAll(): Promise<void> {
    while (this.opened.length > 0 && this.#isOpen) await Promise.all(this.opened.map(({ key }) => this.abandon(key)));
  }

  /** Shows a called task in the metadata of this one, and in its journal. */
  show(key: string, child: CalledTask): void {
    this.#record(key, child);
    const { turn = 1 } = this.#writer.runner;
    const call = turn === 1 ? key : `${turn}/${key}`;
    const { children = [] } = this.relations;
    const isKnown = children.some((known) => known.call === call);
    const next = isKnown
      ? children.map((known) => (known.call === call ? { ...child, call } : known))
      : [...children, { ...child, call }].slice(-MAX_SHOWN_CHILDREN);
    this.#change({ children: next });
  }

  /** What this task and the calls that it has finished have used. */
  get usage(): Counters {
    const metadata = readMetadata(this.#writer.metadata);
    return callRelationsOf(metadata)?.usage ?? reportedUsage(metadata);
  }

  /** Adds what a called task has used. */
  count(usage: Counters): void {
    this.#change({ usage: addCounters(this.usage, usage) });
    this.#enter();
  }

  /** This task has used more itself, and its metadata says so already. */
  counted(usage: Counters): void {
    const relations = callRelationsOf(readMetadata(this.#writer.metadata));
    if (relations !== undefined) this.#change({ usage: addCounters(relations.usage ?? {}, usage) });
    this.#enter();
  }

  get budget(): Budget {
    return lowerBudget(this.ancestry?.budget, this.limits.budget) ?? {};
  }

  /** What this task and its calls may still use. */
  get left(): Budget {
    this.#enter();
    const own = leftOf(this.budget, spentOf(this.usage));
    return lowerBudget(own, this.#calls.budgets.left(this.root)) ?? {};
  }

  /** Why the tree has used too much; `undefined` if it has not. */
  get excess(): string | undefined {
    const { tokens = 0, cost = 0 } = this.left;
    if (tokens >= 0 && cost >= 0) return undefined;
    return `The budget of the task is used up: its tree has used ${describe(this.usage)}, and ${describe(this.budget)} were allowed.`;
  }

  /** The task has ended: its parent counts what it has used. */
  forget(): void {
    this.#calls.budgets.remove(this.root, this.id);
  }

  get relations(): CallRelations {
    return callRelationsOf(readMetadata(this.#writer.metadata)) ?? startRelations(this.ancestry, this.usage);
  }

  get #isOpen(): boolean {
    return this.#writer.loss === undefined && !this.#writer.ended;
  }

  /** Lets other tasks of the tree see what this one has used. */
  #enter(): void {
    const { budget } = this;
    if (budget.tokens === undefined && budget.cost === undefined) return;
    const isRoot = this.ancestry === undefined;
    this.#calls.budgets.set(this.root, this.id, { used: this.usage, ...(isRoot && { budget }) });
  }

  async #abandon(key: string): Promise<void> {
    const child = this.opened.find((open) => open.key === key);
    if (child === undefined) return;
    const task = await this.#calls.callees.abandon(child, this.origin);
    // Another call may have closed it meanwhile: then its usage is counted.
    if (!this.#isOpen || !this.opened.some((open) => open.key === key)) return;
    const agent = child.address.agent ?? child.address.url;
    if (task !== undefined && isTerminal(task.status.state)) {
      this.count(reportedUsage(task.metadata));
      this.show(key, { agent, taskId: task.id, state: task.status.state });
    } else this.show(key, { agent, state: "canceled", ...(child.taskId !== undefined && { taskId: child.taskId }) });
    this.close(key);
  }

  /** A call begins with the state `calling`. A later attempt may end it. */
  #record(key: string, { agent, taskId, state }: CalledTask): void {
    const { turn = 1, attempt } = this.#writer.runner;
    const called = { agent, ...(taskId !== undefined && { taskId }) };
    if (state === "calling") {
      const entry: JournalEntry = {
        ...{ kind: "child", key, turn, attempt, node: this.#calls.node, start: this.#calls.now() },
        called,
      };
      this.#begun.set(key, entry);
      this.#writer.journal(entry);
      return;
    }
    const begun = this.#begun.get(key);
    if (begun !== undefined && taskId !== undefined && begun.called?.taskId === undefined) {
      const entry = { ...begun, called };
      this.#begun.set(key, entry);
      this.#writer.journal(entry);
    }
    if (OPEN_STATES.includes(state)) return;
    this.#begun.delete(key);
    this.#writer.journal({ kind: "child", key, turn, end: this.#calls.now(), outcome: state });
  }

  #set(children: readonly OpenChild[]): void {
    this.#writer.updateHead({ runner: { children: children.length === 0 ? undefined : children } });
  }

  #change(change: Partial<CallRelations>): void {
    const writer = this.#writer;
    const relations = { ...this.relations, ...change };
    for (const most of [MAX_SHOWN_CHILDREN, 8, 0]) {
      const children = relations.children?.slice(-most || MAX_SHOWN_CHILDREN + 1);
      const shown = most === 0 ? { ...relations, children: [] } : { ...relations, ...(children && { children }) };
      try {
        // Safe cast: relations are plain JSON.
        writer.setMetadata(mergeMetadata(writer.metadata, { [CALLS]: shown as unknown as JsonObject }));
        return;
      } catch (error) {
        // The metadata has no room: fewer children are shown.
        if (most === 0) throw error;
      }
    }
  }
}

/** The relations of a task before its first call. */
export function startRelations(ancestry: Ancestry | undefined, usage: Counters = {}): CallRelations {
  return {
    ...(ancestry !== undefined && { root: ancestry.root, parent: ancestry.parent, depth: ancestry.depth }),
    ...(ancestry?.verified === false && { verified: false }),
    ...(Object.keys(usage).length > 0 && { usage }),
  };
}

function describe(amounts: Counters | Budget): string {
  const { tokens, cost } =
    "tokens" in amounts || "cost" in amounts ? (amounts as Budget) : spentOf(countersIn({ ...amounts }));
  const shown = [
    tokens === undefined ? [] : [`${tokens} tokens`],
    cost === undefined ? [] : [`a cost of ${cost}`],
  ].flat();
  return shown.join(" and ") || "nothing";
}
