import type { OperationResult, PushDeleteRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** Deletes a push configuration; also if there is none of that id. From the answer on nothing is sent there. */
export async function deletePush(service: Service, call: Call, request: PushDeleteRequest): Promise<OperationResult> {
  const { taskId, id, tenant } = request;
  await requirePush(service).delete(pushCaller(service, call, tenant), taskId, id);
  return { kind: "push-deleted" };
}
