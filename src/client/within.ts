import type { AgentHost } from "./agent-host.ts";
import { createDeadline, type DeadlineOptions } from "./http/abort.ts";

/**
 * Runs a call with a timeout (default: the client's `timeout`) and the caller's signal. The call gets one signal for both, and must pass it
 * on to everything that waits.
 */
export async function within<T>(
  { settings }: Pick<AgentHost, "settings">,
  { signal, timeout = settings.timeout, taskId, trace }: DeadlineOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = createDeadline(settings.clock, { signal, timeout, taskId, trace });
  try {
    return await call(deadline.signal);
  } finally {
    deadline.release();
  }
}
