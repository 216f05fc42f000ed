import type { A2AError } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { TransportEnvironment } from "./options.ts";

export interface FinishedCall {
  readonly agent: string;
  readonly dialect: string;
  readonly principal: Principal;
  readonly operation: Operation | undefined;
  readonly traceparent: string | undefined;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly error: A2AError | undefined;
}

/** Logs the cause of an internal error, which callers do not see, and calls the host's hook. */
export function recordCall({ hooks, logger }: TransportEnvironment, call: FinishedCall): void {
  const { agent, dialect, principal, operation, traceparent, error } = call;
  if (error?.code === "internal") {
    logger.error("A call failed", { agent, dialect, operation, traceparent, error: error.cause ?? error });
  }
  if (hooks.on?.call === undefined) return;
  const failed = (thrown: unknown): void => logger.warn("The call hook failed", { error: thrown });
  try {
    const hooked = hooks.on.call({
      agent,
      dialect,
      principal,
      durationMs: performance.now() - call.startedAt,
      ...(operation !== undefined && { operation }),
      ...(traceparent !== undefined && { traceparent }),
      ...(error !== undefined && { error: error.code }),
    });
    if (hooked instanceof Promise) hooked.catch(failed);
  } catch (thrown) {
    failed(thrown);
  }
}
