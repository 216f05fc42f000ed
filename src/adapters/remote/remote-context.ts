import { createHash } from "node:crypto";
import { RemoteError, type RemoteErrorCode } from "../../client/http/errors.ts";
import type { TaskContext } from "../../engine/agent/agent.ts";

/**
 * The id of the remote context that belongs to a caller and its context here. It is computed, not stored: the same caller and context
 * always give the same id, after a restart and on every node. Other callers, agents and servers give others, so that nobody gets into
 * the remote context of somebody else.
 */
export function remoteContextId({ callPath, tenant, caller, contextId }: RemoteContextOf): string {
  const here = callPath.at(-1) ?? "";
  const whose = JSON.stringify([here, tenant, caller.anonymous, caller.id, contextId]);
  const hex = createHash("sha256").update(whose).digest("hex");
  // A UUID of version 8, because some agents take no other ids.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export type RemoteContextOf = Pick<TaskContext, "callPath" | "tenant" | "caller" | "contextId">;

const REFUSALS: ReadonlySet<RemoteErrorCode> = new Set<RemoteErrorCode>([
  "invalid-params",
  "invalid-request",
  "task-not-found",
  "unsupported-operation",
]);

/** Whether the remote agent refuses contexts that it did not make itself. Then it has done nothing with the message. */
export function isContextRefusal(error: unknown): boolean {
  if (!(error instanceof RemoteError) || !REFUSALS.has(error.code)) return false;
  return [error.message, ...error.violations.map(({ field }) => field)].some((text) => /context|session/i.test(text));
}
