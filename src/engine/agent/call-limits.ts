import { lowerBudget } from "../../protocol/calls/ancestry.ts";
import type { CallLimits } from "./call-types.ts";

export const DEFAULT_CALL_LIMITS: CallLimits = {
  depth: 8,
  cycles: false,
  fanOut: 16,
  perTask: 100,
  perMinute: 300,
  agents: 20,
  coolDown: 30_000,
  budget: {},
};

/** The limits of an agent on a server: of each number the smaller one. Cycles are as the agent says, else as the server says. */
export function callLimitsOf(server: Partial<CallLimits> = {}, agent: Partial<CallLimits> = {}): CallLimits {
  const base = { ...DEFAULT_CALL_LIMITS, ...defined(server) };
  return {
    depth: Math.min(base.depth, agent.depth ?? base.depth),
    cycles: agent.cycles ?? base.cycles,
    fanOut: Math.min(base.fanOut, agent.fanOut ?? base.fanOut),
    perTask: Math.min(base.perTask, agent.perTask ?? base.perTask),
    perMinute: Math.min(base.perMinute, agent.perMinute ?? base.perMinute),
    agents: Math.min(base.agents, agent.agents ?? base.agents),
    // The longer one is the stricter one.
    coolDown: Math.max(base.coolDown, agent.coolDown ?? base.coolDown),
    budget: lowerBudget(base.budget, agent.budget) ?? {},
  };
}

/** The problems of call limits, one sentence each. Checks the types as well: they may come from JavaScript. */
export function callLimitProblems(place: string, limits: unknown): readonly string[] {
  if (limits === undefined) return [];
  if (typeof limits !== "object" || limits === null) return [`\`${place}\` must be an object.`];
  return Object.entries(limits).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    if (!Object.hasOwn(DEFAULT_CALL_LIMITS, name))
      return [`\`${place}.${name}\` is unknown; known: ${Object.keys(DEFAULT_CALL_LIMITS).join(", ")}.`];
    if (name === "cycles") return typeof value === "boolean" ? [] : [`\`${place}.cycles\` must be true or false.`];
    if (name === "budget") return budgetProblems(`${place}.budget`, value);
    const isNumber = typeof value === "number" && value >= 0 && (Number.isSafeInteger(value) || value === Infinity);
    return isNumber ? [] : [`\`${place}.${name}\` must be a whole number of at least 0, or Infinity.`];
  });
}

function budgetProblems(place: string, value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [`\`${place}\` must be an object.`];
  return Object.entries(value).flatMap(([name, amount]: [string, unknown]) => {
    if (name !== "tokens" && name !== "cost") return [`\`${place}.${name}\` is unknown; known: tokens, cost.`];
    const isAmount = amount === undefined || (typeof amount === "number" && amount >= 0);
    return isAmount ? [] : [`\`${place}.${name}\` must be a number of at least 0.`];
  });
}

function defined(limits: Partial<CallLimits>): Partial<CallLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
