import type { ErrorCode } from "../protocol/error.ts";
import type { Operation, OperationRequest, OperationResult } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { TaskStream } from "../server/task-stream.ts";

/** One call or refused request for the audit log: caller, operation, task and outcome. Never contains messages or secrets. */
export interface AuditEntry {
  /** The caller's id, or `anonymous`. */
  readonly principal: string;
  /** Identifies the caller's credentials, if possible: the id of a key or token, or the fingerprint of a certificate. */
  readonly credential?: string;
  readonly agent: string;
  /** Absent if the request could not be parsed that far. `card`: reading a private card. `operator`: a request of the operator API, for the agent `*`. */
  readonly operation?: Operation | "card" | "operator";
  /** Method and path of a request of the operator API. */
  readonly request?: string;
  /** Absent without a tenant. */
  readonly tenant?: string;
  readonly taskId?: string;
  readonly dialect?: string;
  /** The caller's network address, if known. */
  readonly remote?: string;
  readonly outcome: "ok" | ErrorCode;
  readonly traceId?: string;
}

/** Called when a call is answered; for a stream, when it opens. Must not throw. */
export type Audit = (entry: AuditEntry) => void;

/** Longer names are cut off, because callers may send anything. */
const MAX_NAME = 256;

export interface AuditedCall
  extends Omit<AuditEntry, "principal" | "credential" | "tenant" | "taskId" | "traceId" | "operation" | "remote"> {
  readonly principal: Principal;
  readonly operation: AuditEntry["operation"];
  readonly remote: string | undefined;
  readonly trace: TraceContext | undefined;
  readonly tenant: string | undefined;
  readonly taskId: string | undefined;
}

/** The entry, without unknown members. */
export function auditEntry(call: AuditedCall): AuditEntry {
  const { principal, trace, operation, tenant, taskId, remote, ...known } = call;
  const { id, credential } = principal;
  return {
    principal: id,
    ...(credential !== undefined && { credential: credential.slice(0, MAX_NAME) }),
    ...known,
    ...(operation !== undefined && { operation }),
    ...(tenant !== undefined && tenant !== "" && { tenant: tenant.slice(0, MAX_NAME) }),
    ...(taskId !== undefined && { taskId: taskId.slice(0, MAX_NAME) }),
    ...(remote !== undefined && { remote }),
    ...(trace !== undefined && { traceId: trace.traceId }),
  };
}

/** The task of a call, from its result or its request. */
export function taskIdOf(
  request: OperationRequest | undefined,
  result: OperationResult | TaskStream | undefined,
): string | undefined {
  if (result !== undefined) {
    if (result.kind === "sent" || result.kind === "task") return result.task.id;
    if (result.kind === "stream" && result.opening.kind === "task") return result.opening.task.id;
  }
  if (request === undefined) return undefined;
  if ("message" in request) return request.message.taskId;
  if ("taskId" in request) return request.taskId;
  return "id" in request ? request.id : undefined;
}
