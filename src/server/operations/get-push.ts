import type { OperationResult, PushGetRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** One webhook of a task, by id or the latest (A2A 1.0 §3.1.8). */
export async function getPush(service: Service, call: Call, request: PushGetRequest): Promise<OperationResult> {
  const { taskId, id, tenant } = request;
  const config = await requirePush(service).get(pushCaller(service, call, tenant), taskId, id);
  return { kind: "push", taskId, ...(config !== undefined && { config }) };
}
