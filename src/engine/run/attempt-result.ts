import type { LazyAbort } from "../../internal/lazy-abort.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { TerminalState } from "../../protocol/state.ts";
import { AGENT_FAILED } from "../../protocol/task.ts";
import type { Agent, RunFunction, RunResult, Skill } from "../agent/agent.ts";
import { Rejection } from "../agent/rejection.ts";
import { applyRunEvent, runEventOf } from "../agent/run-event.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { Iterated } from "./iterate.ts";
import type { RunContext } from "./task-context.ts";

/** How the agent's code ended. */
export type AttemptResult = { readonly kind: "returned" } | { readonly kind: "threw"; readonly error: unknown };

export const RETURNED: AttemptResult = { kind: "returned" };

/** Why a run was asked to stop. */
export type StopCause = "canceled" | "timeout";

/** How a task ends. */
export interface TaskOutcome {
  readonly state: TerminalState;
  readonly parts?: readonly Part[];
  /** Callers do not see the error, so it must be logged. */
  readonly isUnexpected?: boolean;
}

/** How a task ends whose code threw `error`. A rejection counts even after the run was asked to stop; any other error does not. */
export function outcomeOf(error: unknown, stopCause: StopCause | undefined): TaskOutcome {
  if (error instanceof Rejection) return { state: "rejected", parts: [{ text: error.message }] };
  if (stopCause === "canceled") return { state: "canceled" };
  if (stopCause === "timeout") return { state: "failed", parts: [{ text: "Task timed out" }] };
  if (error instanceof TaskFailure) return { state: "failed", parts: failureParts(error) };
  return { state: "failed", parts: [{ text: AGENT_FAILED }], isUnexpected: true };
}

function failureParts({ message, data }: TaskFailure): readonly Part[] {
  return data === undefined ? [{ text: message }] : [{ text: message }, { data }];
}

/** What the agent's function returned, or resolved with. */
export type RunValue = Awaited<RunResult> | undefined;

/** Where the result of a run goes. */
interface Consumer {
  readonly context: RunContext;
  readonly aborter: LazyAbort;
}

/** The function that runs a message: the skill's own, else the agent's. Throws an `Error` if there is none. */
export function runOf(agent: Agent, skill: Skill | undefined): RunFunction<unknown> {
  // Safe: the data was validated with the schema of this skill, which defines the input type of its run().
  const run = (skill?.run?.bind(skill) ?? agent.run?.bind(agent)) as RunFunction<unknown> | undefined;
  if (run === undefined)
    throw new Error(
      `Agent ${agent.id} has no run() for ${skill === undefined ? "this message" : `skill ${skill.id}`}.`,
    );
  return run;
}

/**
 * Writes what the agent's function returned or yields into the artifact `result`. `iterated`: the value, if it has several values. Returns a
 * promise only if something must be awaited. Throws or rejects if the run was asked to stop and returns nothing.
 */
export function consumeResult(
  iterated: Iterated | undefined,
  value: RunValue,
  consumer: Consumer,
): Promise<void> | undefined {
  const { context, aborter } = consumer;
  if (iterated !== undefined) return consumeAll(iterated, consumer);
  if (value === undefined) {
    // A run that returns nothing after it was asked to stop has stopped; a run that returns a result has completed.
    aborter.throwIfAborted();
    return undefined;
  }
  // Safe: a run returns an Output or nothing; toParts rejects everything else.
  return context.returned(value as JsonValue);
}

async function consumeAll({ values, isObservable }: Iterated, { context, aborter }: Consumer): Promise<void> {
  for await (const value of values) {
    aborter.throwIfAborted();
    const event = isObservable ? runEventOf(value) : undefined;
    if (event !== undefined) {
      if ((await applyRunEvent(event, context)) === "end") return;
      continue;
    }
    const room = context.yielded(value);
    if (room !== undefined) await room;
  }
  // A generator that stopped because of the signal may end like one that is done.
  aborter.throwIfAborted();
}
