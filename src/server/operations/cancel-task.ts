import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import { A2AError } from "../../protocol/error.ts";
import type { CancelRequest, OperationResult } from "../../protocol/operation.ts";
import { type Call, scopeOf } from "../call.ts";
import { taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { showsStateHistory } from "../state-history.ts";

/** Cancels a task and returns it once it is canceled (A2A 1.0 §3.1.5). */
export async function cancelTask(
  { agent, engine }: Service,
  call: Call,
  request: CancelRequest,
): Promise<OperationResult> {
  const scope = scopeOf(call, agent.id, request.tenant);
  const result = await engine.cancel(scope, request.id);
  if (result === "not-found") throw taskNotFound(request.id);
  if (result === "too-late" || (result === "repeated" && call.policy.repeatCancel === "error")) {
    throw new A2AError("task-not-cancelable", "The task is finished and cannot be canceled", {
      metadata: { taskId: request.id },
    });
  }
  const task = await engine.snapshot(scope, request.id, {
    artifacts: true,
    largeBytes: LARGE_BYTES,
    stateHistory: showsStateHistory(agent),
  });
  if (task === undefined) throw taskNotFound(request.id);
  return { kind: "task", task };
}
