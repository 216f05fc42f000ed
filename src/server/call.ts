import type { CallPath } from "../protocol/call-path.ts";
import type { OperationPolicy } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";

/** One operation by one caller: who asks, in which dialect, and what came with the request besides its parameters. */
export interface Call {
  readonly principal: Principal;
  /** Version and binding, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  readonly policy: OperationPolicy;
  /** URIs of the extensions the caller asked for. */
  readonly extensions: readonly string[];
  /** The caller's W3C trace context, unparsed. */
  readonly traceparent: string | undefined;
  /** The agents that the message has passed. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The last event a broken stream delivered, unparsed. */
  readonly lastEventId: string | undefined;
  /** Aborts when the caller is gone. Never ends a task, only the waiting for it. */
  readonly signal: AbortSignal;
}

/** The boundary this call reads and writes within. Who belongs to a tenant means that one, whether it names it or none. */
export function scopeOf(call: Call, agent: string, tenant: string): Scope {
  const { id, tenant: own } = call.principal;
  return { agent, tenant: own ?? tenant, owner: id };
}
