import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import type { ListRequest, OperationResult } from "../../protocol/operation.ts";
import { type Call, scopeOf } from "../call.ts";
import type { Service } from "../service.ts";

/** Default and maximum number of messages per task: a page has up to 100 tasks. */
const DEFAULT_HISTORY = 10;
const MAX_HISTORY = 100;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A page of the caller's own tasks, newest status first. A page of large tasks ends early (A2A 1.0 §3.1.4). */
export async function listTasks(
  { agent, engine, maxPageBytes = MAX_PAGE_BYTES }: Service,
  call: Call,
  request: ListRequest,
): Promise<OperationResult> {
  const { contextId, state, statusSince, before, pageSize, artifacts } = request;
  const page = await engine.list({
    scope: scopeOf(call, agent.id, request.tenant),
    limit: pageSize,
    artifacts,
    maxBytes: maxPageBytes,
    largeBytes: LARGE_BYTES,
    history: Math.min(request.history ?? DEFAULT_HISTORY, MAX_HISTORY),
    ...(contextId !== undefined && { contextId }),
    ...(state !== undefined && { state }),
    ...(statusSince !== undefined && { statusSince }),
    ...(before !== undefined && { before }),
  });
  return {
    kind: "tasks",
    // If artifacts are requested, the member is present even if it is empty.
    tasks: artifacts ? page.tasks.map((task) => ({ ...task, artifacts: task.artifacts ?? "[]" })) : page.tasks,
    total: page.total,
    pageSize,
    ...(page.next !== undefined && { next: page.next }),
  };
}
