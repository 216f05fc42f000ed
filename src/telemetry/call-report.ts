import type { A2AError } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";

/** One answered call, for metrics and the request log; a stream is reported once, after its end. */
export interface CallReport {
  readonly agent: string;
  /** Absent if the request could not be parsed that far. `card`: reading a private card. */
  readonly operation: Operation | "card" | undefined;
  /** Version and binding, such as `1.0/jsonrpc`. Absent for cards. */
  readonly dialect: string | undefined;
  readonly principal: Principal;
  /** The caller's network address, if known. */
  readonly remote: string | undefined;
  readonly taskId: string | undefined;
  readonly traceId: string | undefined;
  /** Absent if the call succeeded. Its cause must not be shown to the caller. */
  readonly error: A2AError | undefined;
  readonly durationMs: number;
}

/** Called after each call. Must be fast and must not throw. */
export type ReportCall = (report: CallReport) => void;
