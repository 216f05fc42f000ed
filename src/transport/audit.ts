import type { ErrorCode } from "../protocol/error.ts";
import type { Operation, OperationRequest, OperationResult } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import { traceIdOf } from "../protocol/traceparent.ts";
import type { TaskStream } from "../server/task-stream.ts";

/** One call or refusal, as those who look into it later need it: who, what, when answered and how. Never what was said, and no secrets. */
export interface AuditEntry {
  /** The caller's id; `anonymous` where nobody knows it. */
  readonly principal: string;
  /** Which of its credentials it has shown, where these have names: the id of a key or a token, the fingerprint of a certificate. */
  readonly credential?: string;
  readonly agent: string;
  /** Absent where the call could not be understood that far. `card`: a card that not everybody may read. */
  readonly operation?: Operation | "card";
  /** Absent where none is named. */
  readonly tenant?: string;
  readonly taskId?: string;
  readonly dialect?: string;
  /** The caller's network address, where known. */
  readonly remote?: string;
  readonly outcome: "ok" | ErrorCode;
  readonly traceId?: string;
}

/** Told of every call as soon as it is answered; of a stream, when it opens. Must not throw. */
export type Audit = (entry: AuditEntry) => void;

/** Longer than any name that means something; callers may send anything. */
const MAX_NAME = 256;

export interface AuditedCall
  extends Omit<AuditEntry, "principal" | "credential" | "tenant" | "taskId" | "traceId" | "operation" | "remote"> {
  readonly principal: Principal;
  readonly operation: AuditEntry["operation"];
  readonly remote: string | undefined;
  readonly traceparent: string | undefined;
  readonly tenant: string | undefined;
  readonly taskId: string | undefined;
}

/** An entry without what is not known. */
export function auditEntry(call: AuditedCall): AuditEntry {
  const { principal, traceparent, operation, tenant, taskId, remote, ...known } = call;
  const { id, credential } = principal;
  const traceId = traceIdOf(traceparent);
  return {
    principal: id,
    ...(credential !== undefined && { credential: credential.slice(0, MAX_NAME) }),
    ...known,
    ...(operation !== undefined && { operation }),
    ...(tenant !== undefined && tenant !== "" && { tenant: tenant.slice(0, MAX_NAME) }),
    ...(taskId !== undefined && { taskId: taskId.slice(0, MAX_NAME) }),
    ...(remote !== undefined && { remote }),
    ...(traceId !== undefined && { traceId }),
  };
}

/** The task that a call is about, by what it asks or by what it is answered with. */
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
