import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import type { GetRequest, OperationResult } from "../../protocol/operation.ts";
import { type Call, scopeOf } from "../call.ts";
import { taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { showsStateHistory } from "../state-history.ts";

/** The task as stored now (A2A 1.0 §3.1.3), or once it has changed, if the caller waits for a change. */
export async function getTask({ agent, engine }: Service, call: Call, request: GetRequest): Promise<OperationResult> {
  const scope = scopeOf(call, agent.id, request.tenant);
  const { waitAfterSeq: after } = request;
  if (after !== undefined) await engine.changed(scope, request.id, { after, caller: call });
  const task = await engine.snapshot(scope, request.id, {
    artifacts: true,
    history: request.history,
    largeBytes: LARGE_BYTES,
    stateHistory: showsStateHistory(agent),
  });
  if (task === undefined) throw taskNotFound(request.id);
  return { kind: "task", task };
}
