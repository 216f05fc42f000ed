import type { Budget } from "../../protocol/calls/ancestry.ts";
import type { CallLimits } from "../agent/call-types.ts";
import { CallError, type CallRefusal } from "./call-error.ts";

/** What decides whether a call is allowed. All of it is known before anything is sent. */
export interface CallFacts {
  /** The calling agent. */
  readonly agent: string;
  /** What names the called agent. */
  readonly label: string;
  /** The called agent's entry in call paths; `undefined`: it is on another server. */
  readonly entry: string | undefined;
  /** The agents that led to the calling task, that task's own last. */
  readonly path: readonly string[];
  /** Of the calling task. */
  readonly depth: number;
  /** Calls of this turn that are open. */
  readonly open: number;
  /** Calls of this turn so far. */
  readonly made: number;
  /** What names the agents that this turn has called. */
  readonly called: ReadonlySet<string>;
  /** What the tree may still use. */
  readonly left: Budget;
  /** Milliseconds since 1970; `undefined`: no limit. */
  readonly deadline: number | undefined;
  readonly now: number;
}

const MINUTE = 60_000;
/** Failures in a row before an agent is not called for a while. */
const FAILURES = 5;
/** Agents that are remembered; the oldest is forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Decides about the calls of all tasks of one process. */
export class CallGuard {
  /** By calling agent: when it called, oldest first, within the last minute. */
  readonly #times = new Map<string, number[]>();
  /** By calling and called agent. */
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>();

  /** Counts the call. Throws a `CallError` if it is not allowed. */
  admit(facts: CallFacts, limits: CallLimits): void {
    const refusal = this.#refusal(facts, limits);
    if (refusal !== undefined) {
      const [code, why] = refusal;
      throw new CallError(`The call of ${JSON.stringify(facts.label)} was refused: ${why}`, { code });
    }
    this.#recent(facts).push(facts.now);
  }

  /** As `admit`, for a message that an agent passes on: only the place in the tree and its limits count. */
  admitRelayed(
    facts: Pick<CallFacts, "depth" | "deadline" | "left" | "now">,
    { depth }: Pick<CallLimits, "depth">,
  ): void {
    const whole = {
      ...facts,
      agent: "",
      label: "",
      entry: undefined,
      path: [],
      open: 0,
      made: 0,
      called: new Set<string>(),
    };
    const refusal = this.#placeRefusal(whole, depth);
    if (refusal === undefined) return;
    const [code, why] = refusal;
    throw new CallError(`The message was not passed on: ${why}`, { code });
  }

  /** A called task ended; `failed`: in another state than completed, or it could not be reached. */
  ended(agent: string, label: string, { failed, at }: { readonly failed: boolean; readonly at: number }): void {
    const pair = `${agent} ${label}`;
    const before = this.#failures.get(pair);
    this.#failures.delete(pair);
    if (!failed) return;
    this.#failures.set(pair, { count: (before?.count ?? 0) + 1, at });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_REMEMBERED && oldest !== undefined) this.#failures.delete(oldest);
  }

  #placeRefusal({ depth, deadline, left, now }: CallFacts, most: number): readonly [CallRefusal, string] | undefined {
    if (depth + 1 > most)
      return ["call-depth", `${depth} calls have led to this task, and at most ${most} are allowed.`];
    if (deadline !== undefined && deadline <= now) return ["call-deadline", "the time of this task is over."];
    if ((left.tokens ?? 1) <= 0 || (left.cost ?? 1) <= 0)
      return ["call-budget", "the budget of this task and of the tasks that it belongs to is used up."];
    return undefined;
  }

  #refusal(facts: CallFacts, limits: CallLimits): readonly [CallRefusal, string] | undefined {
    const { entry, path, open, made, called, label, now } = facts;
    const misplaced = this.#placeRefusal(facts, limits.depth);
    if (misplaced !== undefined) return misplaced;
    if (entry !== undefined && !limits.cycles && path.includes(entry))
      return ["call-cycle", "this agent is already working further up, so the call would go round in a circle."];
    if (open >= limits.fanOut)
      return [
        "call-fan-out",
        `${open} calls of this task are open, and at most ${limits.fanOut} are allowed at a time.`,
      ];
    if (made >= limits.perTask)
      return ["call-limit", `this task has made ${made} calls, and at most ${limits.perTask} are allowed.`];
    if (!called.has(label) && called.size >= limits.agents)
      return ["call-agents", `this task has called ${called.size} different agents, the most that are allowed.`];
    if (this.#recent(facts).length >= limits.perMinute)
      return [
        "call-rate",
        `tasks of this agent have made ${limits.perMinute} calls within the last minute; try again later.`,
      ];
    const failures = this.#failures.get(`${facts.agent} ${label}`);
    if (failures !== undefined && failures.count >= FAILURES && now - failures.at < limits.coolDown)
      return [
        "call-cool-down",
        `it failed ${failures.count} times in a row; try again in ${Math.ceil((failures.at + limits.coolDown - now) / 1000)} s.`,
      ];
    return undefined;
  }

  #recent({ agent, now }: CallFacts): number[] {
    const kept = (this.#times.get(agent) ?? []).filter((time) => time > now - MINUTE);
    this.#times.set(agent, kept);
    return kept;
  }
}
