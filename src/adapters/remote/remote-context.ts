import { createHash } from "node:crypto";
import { RemoteError, type RemoteErrorCode } from "../../client/http/errors.ts";
import type { TaskContext } from "../../engine/agent/agent.ts";

/**
 * The id of the remote context for a caller and its context. It is computed, not stored: the same caller and context always give the same id, after a
 * restart and on every node. Other callers, agents and servers give other ids, so no caller reaches the remote context of another.
 */
export function remoteContextId({ callPath, tenant, caller, contextId }: RemoteContextOf): string {
  const here = callPath.at(-1) ?? "";
  const whose = JSON.stringify([here, tenant, caller.anonymous, caller.id, contextId]);
  const hex = createHash("sha256").update(whose).digest("hex");
  // A UUID of version 8, because some agents accept only UUIDs.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** What decides the remote context. */
export type RemoteContextOf = Pick<TaskContext, "callPath" | "tenant" | "caller" | "contextId">;

/** A2A 1.0 §3.4.1 lets agents reject context ids of clients, and names no error for it. */
const REFUSALS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "invalid-params",
  "invalid-request",
  "task-not-found",
  "unsupported-operation",
]);

/** Whether the remote agent rejects context ids that it did not create. It has not processed the message then. */
export function isContextRefusal(error: unknown): boolean {
  if (!(error instanceof RemoteError) || !REFUSALS.has(error.code)) return false;
  return [error.message, ...error.violations.map(({ field }) => field)].some((text) => /context|session/i.test(text));
}
