import type { OperationResult, PushGetRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** One push configuration of a task: the one of that id, or the latest. */
export async function getPush(service: Service, call: Call, request: PushGetRequest): Promise<OperationResult> {
  const { taskId, id, tenant } = request;
  const config = await requirePush(service).get(pushCaller(service, call, tenant), taskId, id);
  return { kind: "push", taskId, ...(config !== undefined && { config }) };
}
