import type { OperationResult, PushDeleteRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** Deletes a webhook; succeeds also if it does not exist. After the answer, nothing more is sent to it (A2A 1.0 §3.1.10). */
export async function deletePush(service: Service, call: Call, request: PushDeleteRequest): Promise<OperationResult> {
  const { taskId, id, tenant } = request;
  await requirePush(service).delete(pushCaller(service, call, tenant), taskId, id);
  return { kind: "push-deleted" };
}
