import { type Agent, agent } from "../../engine/agent/agent.ts";
import type { CalleeAddress } from "../../engine/call/callee.ts";

/** The agent of this server that cancels called tasks later. It is not served. */
export const CANCEL_AGENT = "palaver.cancel";

/** The task to cancel. */
export type CancelOrder = {
  readonly url: string;
  readonly taskId: string;
};

/** Milliseconds between two attempts: doubled each time, up to 5 s; after some minutes, a minute. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
const EAGER_ATTEMPTS = 100;
const PATIENT_WAIT = 60_000;
/** About a day of attempts. */
const MAX_ATTEMPTS = 1500;

/**
 * Cancels tasks of other servers that could not be reached when their caller ended. Each is a task of this server, so it survives restarts and
 * waits like any other.
 */
export function cancelAgent(
  cancel: (address: CalleeAddress & { readonly url: string }, taskId: string, signal: AbortSignal) => Promise<void>,
): Agent {
  return agent({
    id: CANCEL_AGENT,
    name: "Cancels called tasks",
    description: "Cancels tasks of other servers that could not be reached before.",
    version: "1",
    timeout: Number.POSITIVE_INFINITY,
    async run(task) {
      // Safe cast: only this server creates these tasks.
      const { url, taskId } = task.data as unknown as CancelOrder;
      for (let attempt = 0; ; attempt++) {
        const isDone = await task.step(`cancel-${attempt}`, async ({ signal }) => {
          try {
            await cancel({ url }, taskId, signal);
            return true;
          } catch (error) {
            signal.throwIfAborted();
            task.log.debug("A called task could not be canceled; it is tried again", {
              url,
              calledTask: taskId,
              error,
            });
            return false;
          }
        });
        if (isDone) return;
        if (attempt >= MAX_ATTEMPTS) task.reject("The server could not be reached for a day.");
        await task.sleep(attempt < EAGER_ATTEMPTS ? Math.min(FIRST_WAIT * 2 ** attempt, LONGEST_WAIT) : PATIENT_WAIT);
      }
    },
  });
}
