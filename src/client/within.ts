import type { AgentHost } from "./agent-host.ts";
import { createDeadline, type DeadlineOptions } from "./http/abort.ts";

/** Runs a call within its time and its caller's signal. Without a time of its own it has the agent's. */
export async function within<T>(
  { settings }: Pick<AgentHost, "settings">,
  { signal, timeout = settings.timeout, taskId }: DeadlineOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = createDeadline(settings.clock, { signal, timeout, taskId });
  try {
    return await call(deadline.signal);
  } finally {
    deadline.release();
  }
}
