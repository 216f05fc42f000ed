import { callHook } from "../internal/call-hook.ts";
import type { A2AError } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { TransportEnvironment } from "./options.ts";

export interface FinishedCall {
  readonly agent: string;
  readonly dialect: string;
  readonly principal: Principal;
  readonly operation: Operation | undefined;
  readonly trace: TraceContext | undefined;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly error: A2AError | undefined;
}

/** Logs the cause of an internal error, which callers do not see, and calls the host's hook. */
export function recordCall({ hooks, logger }: TransportEnvironment, call: FinishedCall): void {
  const { agent, dialect, principal, operation, trace, error } = call;
  if (error?.code === "internal") {
    logger.error("A call failed", { agent, dialect, operation, traceId: trace?.traceId, error: error.cause ?? error });
  }
  const hook = hooks.on?.call;
  if (hook === undefined) return;
  const record = {
    agent,
    dialect,
    principal,
    durationMs: performance.now() - call.startedAt,
    ...(operation !== undefined && { operation }),
    ...(trace !== undefined && { trace }),
    ...(error !== undefined && { error: error.code }),
  };
  callHook(() => hook(record), logger);
}
