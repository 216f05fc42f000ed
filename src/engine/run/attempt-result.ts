import type { Part } from "../../protocol/part.ts";
import type { TerminalState } from "../../protocol/state.ts";
import { Rejection } from "../agent/rejection.ts";
import { TaskFailure } from "../agent/task-failure.ts";

/** How the agent's code ended. */
export type AttemptResult = { readonly kind: "returned" } | { readonly kind: "threw"; readonly error: unknown };

/** Why a run was asked to stop. */
export type StopCause = "canceled" | "timeout";

/** What callers see of an error that is neither a `TaskFailure` nor a rejection. */
export const AGENT_FAILED = "The agent failed while working on this task.";

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
