import { isInterrupted } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { officialState } from "../../wire/official-json.ts";
import type { Session } from "./session.ts";

/** Warns on standard error unless the task is completed or working. The exit code stays 0. */
export async function warnOfOutcome(session: Session, { status }: Task): Promise<void> {
  const { state } = status;
  if (isInterrupted(state)) await session.warn(`The task waits for your input: ${officialState(status)}.`);
  else if (state === "failed" || state === "rejected" || state === "canceled") {
    await session.warn(`The task ended as ${officialState(status)}.`);
  }
}
