import type { AgentHost } from "./agent-host.ts";
import { createDeadline, type DeadlineOptions } from "./http/abort.ts";

/** Runs a call with a timeout (default: the client's `timeout`) and the caller's signal. */
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
