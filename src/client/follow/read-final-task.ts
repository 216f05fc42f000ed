import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import type { AgentHost } from "../agent-host.ts";
import { pause } from "../http/abort.ts";

/** How many polls in a row may return the same unfinished task before it is taken as it is. */
const MAX_UNCHANGED_POLLS = 3;

/**
 * Reads a task whose stream announced its end. Some servers announce the end before they have stored everything that led to it, so the task
 * is polled until it is finished or stops changing. `undefined` if it cannot be read.
 */
export async function readFinalTask(host: AgentHost, id: TaskId, signal: AbortSignal): Promise<Task | undefined> {
  const { clock, poll } = host.settings;
  let known = "";
  let unchanged = 0;
  for (let delay = poll.first; ; delay = Math.min(delay * 1.5, poll.most)) {
    let task: Task;
    try {
      task = await host.get(id, signal);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return undefined;
    }
    const now = JSON.stringify(task);
    unchanged = now === known ? unchanged + 1 : 0;
    known = now;
    if (isTerminal(task.status.state) || unchanged >= MAX_UNCHANGED_POLLS) return task;
    await pause(clock, delay, signal);
  }
}
