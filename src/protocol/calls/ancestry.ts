import type { CallPath } from "../call-path.ts";
import { isJsonObject, type JsonObject } from "../json.ts";

/**
 * URI of the extension for agents that call agents. On a card it says that the server reads the ancestry of messages and counts a message with an
 * ancestry once. In the metadata of a send request it holds the ancestry; in the metadata of a task, its relations and the usage of its tree.
 */
export const CALLS = "urn:palaver:extension:calls";

/** What a tree of calls may still use. Absent members: no limit. */
export interface Budget {
  /** Tokens: `totalTokens` of the usage, else input and output tokens. */
  readonly tokens?: number;
  /** Cost, in the currency of the usage. */
  readonly cost?: number;
}

/** Where a message comes from: the tasks and agents that led to it. The runtime of the calling agent makes it, never its code. */
export interface Ancestry {
  /** The task at the root of the tree. */
  readonly root: string;
  /** The task that sends the message. */
  readonly parent: string;
  /** How many calls lead from the root to the task that the message creates. 1 for a child of the root. */
  readonly depth: number;
  /** The agents along the way, the root's first. */
  readonly path: CallPath;
  /** When the whole tree must have ended; milliseconds since 1970. Absent: no limit. */
  readonly deadline?: number;
  /** Absent: no limit. */
  readonly budget?: Budget;
  /** False: the signature was made with a key that this server does not know, so it only counts. */
  readonly verified: boolean;
}

/** The signed text in a request's metadata: `{ "urn:palaver:extension:calls": { "ancestry": "…" } }`. `undefined`: there is none. */
export function ancestryTextIn(metadata: JsonObject): string | undefined {
  const entry = metadata[CALLS];
  const text = isJsonObject(entry) ? entry["ancestry"] : undefined;
  return typeof text === "string" ? text : undefined;
}

/** The members of an ancestry in decoded claims; `undefined` if they are not valid. */
export function ancestryFrom(
  claims: Readonly<Record<string, unknown>>,
  path: CallPath,
  verified: boolean,
): Ancestry | undefined {
  const { root, parent, depth, deadline, budget } = claims;
  if (!isId(root) || !isId(parent) || typeof depth !== "number" || !Number.isSafeInteger(depth) || depth < 1)
    return undefined;
  if (deadline !== undefined && (typeof deadline !== "number" || !Number.isFinite(deadline))) return undefined;
  const limits = budget === undefined ? undefined : budgetFrom(budget);
  if (budget !== undefined && limits === undefined) return undefined;
  return {
    root,
    parent,
    // A path that is longer than the depth was forwarded by agents that do not count.
    depth: Math.max(depth, path.length),
    path,
    ...(deadline !== undefined && { deadline }),
    ...(limits !== undefined && { budget: limits }),
    verified,
  };
}

/** The lower of two budgets, member by member. */
export function lowerBudget(one: Budget | undefined, other: Budget | undefined): Budget | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const tokens = lower(one.tokens, other.tokens);
  const cost = lower(one.cost, other.cost);
  return { ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost }) };
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function budgetFrom(value: unknown): Budget | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { tokens, cost }: { readonly tokens?: unknown; readonly cost?: unknown } = value;
  const isAmount = (amount: unknown): boolean =>
    amount === undefined || (typeof amount === "number" && Number.isFinite(amount) && amount >= 0);
  if (!isAmount(tokens) || !isAmount(cost)) return undefined;
  return { ...(typeof tokens === "number" && { tokens }), ...(typeof cost === "number" && { cost }) };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 200;
}
