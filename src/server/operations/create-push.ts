import type { OperationResult, PushCreateRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** Creates a webhook, or replaces the one with the same id (A2A 1.0 §3.1.7). */
export async function createPush(service: Service, call: Call, request: PushCreateRequest): Promise<OperationResult> {
  const { taskId, config, tenant } = request;
  const kept = await requirePush(service).set(pushCaller(service, call, tenant), taskId, config);
  return { kind: "push", taskId, config: kept, set: true };
}
