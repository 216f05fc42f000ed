import type { CallPath } from "../protocol/call-path.ts";
import type { Ancestry } from "../protocol/calls/ancestry.ts";
import { invalidField } from "../protocol/error.ts";
import type { OperationPolicy } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import type { TraceContext } from "../protocol/trace-context.ts";

/** One operation of one caller: the caller, the dialect, and everything the request carries besides its parameters. */
export interface Call {
  readonly principal: Principal;
  /** Version and binding, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  readonly policy: OperationPolicy;
  /** URIs of the extensions that the caller requested. */
  readonly requestedExtensions: readonly string[];
  /** URIs of the requested extensions that the agent declares. Empty until `perform` sets it. */
  activeExtensions: readonly string[];
  /** Where the call belongs in a distributed trace; `undefined` if the caller sent no valid context. */
  readonly trace: TraceContext | undefined;
  /** The agents that forwarded the message, first to last. Absent: none did. */
  readonly callPath?: CallPath | undefined;
  /** The tasks that led to the message. Absent: no agent sent it. */
  readonly ancestry?: Ancestry | undefined;
  /** The request's `Last-Event-ID` header: the last event that a broken stream delivered. Not validated. */
  readonly lastEventId: string | undefined;
  /** Aborts when the caller disconnects. This ends the wait for an answer, never the task. */
  readonly signal: AbortSignal;
}

/** The scope that this call reads and writes. The tenant of the credentials takes precedence over the tenant in the request. */
export function scopeOf(call: Call, agent: string, tenant: string): Scope {
  const { id, tenant: own } = call.principal;
  return { agent, tenant: own ?? tenant, owner: id };
}

/** The seq in the call's `Last-Event-ID`; `undefined` if it has none. Throws `invalid-params` if the header is not a seq. */
export function cursorOf({ lastEventId }: Call): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (!/^(0|[1-9]\d{0,14})$/.test(lastEventId))
    throw invalidField("Last-Event-ID", "is not the id of an event of this stream");
  return Number(lastEventId);
}
