import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type Budget, CALLS } from "./ancestry.ts";

/** Totals by name, such as `inputTokens`. */
export type Counters = Readonly<Record<string, number>>;

/** A task that a task has called. */
export interface CalledTask {
  /** The call: its name and how many calls of this name came before. */
  readonly call?: string;
  /** Absent: the agent has not answered yet, or answered without a task. */
  readonly taskId?: string;
  /** The id of a hosted agent, or the URL of a remote one. */
  readonly agent: string;
  /** The last known state; `calling` before the agent has answered, `outcome-unknown` if nobody knows whether it got the message. */
  readonly state: string;
}

/** The place of a task in its tree of calls, as the task's metadata shows it under {@link CALLS}. */
export interface CallRelations {
  /** The task at the root. Absent: this one. */
  readonly root?: string;
  /** The calling task. Absent: a person or a program sent the message. */
  readonly parent?: string;
  readonly depth?: number;
  /** False: another server says who the parent and the root are, and this one does not know its key. */
  readonly verified?: boolean;
  /** The latest 64, oldest first. */
  readonly children?: readonly CalledTask[];
  /** What the task and all tasks below it have used. */
  readonly usage?: Counters;
  /** What the tree of this task may use in total. */
  readonly budget?: Budget;
}

/** More would not fit into the metadata of a task. */
export const MAX_SHOWN_CHILDREN = 64;

/** The relations in a task's metadata; `undefined` if it neither calls nor is called. Lenient: the task may be of another server. */
export function callRelationsOf(metadata: JsonObject | undefined): CallRelations | undefined {
  const value = metadata?.[CALLS];
  if (!isJsonObject(value)) return undefined;
  const { root, parent, depth, verified, children, usage, budget } = value;
  return {
    ...(typeof root === "string" && { root }),
    ...(typeof parent === "string" && { parent }),
    ...(typeof depth === "number" && { depth }),
    ...(typeof verified === "boolean" && { verified }),
    ...(Array.isArray(children) && { children: children.flatMap(calledTaskOf) }),
    ...(isJsonObject(usage) && { usage: countersIn(usage) }),
    ...(isJsonObject(budget) && { budget: countersIn(budget) }),
  };
}

/** The usage that a task reports: of its whole tree if it says so, else its own. Empty if it reports none. */
export function reportedUsage(metadata: JsonObject | undefined): Counters {
  const tree = callRelationsOf(metadata)?.usage;
  const own = metadata?.["usage"];
  return tree ?? (isJsonObject(own) ? countersIn(own) : {});
}

/** Adds totals, name by name. */
export function addCounters(one: Counters, other: Counters): Counters {
  const sum = new Map(Object.entries(one));
  for (const [name, value] of Object.entries(other)) sum.set(name, (sum.get(name) ?? 0) + value);
  return Object.fromEntries(sum);
}

/** The amounts that budgets limit. */
export function spentOf(usage: Counters): Required<Budget> {
  const { totalTokens, inputTokens = 0, outputTokens = 0, cost = 0 } = usage;
  return { tokens: Math.max(totalTokens ?? 0, inputTokens + outputTokens), cost };
}

/** The counters of a reported usage: its finite numbers of at least 0. */
export function countersIn(usage: JsonObject): Counters {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]) =>
      typeof value === "number" && Number.isFinite(value) && value >= 0 ? [[name, value] as const] : [],
    ),
  );
}

function calledTaskOf(value: JsonValue): readonly CalledTask[] {
  if (!isJsonObject(value)) return [];
  const { taskId, agent, state, call } = value;
  if (typeof agent !== "string" || typeof state !== "string") return [];
  return [{ agent, state, ...(typeof taskId === "string" && { taskId }), ...(typeof call === "string" && { call }) }];
}
