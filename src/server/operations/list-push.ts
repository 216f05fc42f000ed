import { invalidField } from "../../protocol/error.ts";
import type { OperationResult, PushListRequest } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { pushCaller, requirePush } from "../push-caller.ts";
import type { Service } from "../service.ts";

/** A page of a task's webhooks, in the order in which they were first set (A2A 1.0 §3.1.9). */
export async function listPush(service: Service, call: Call, request: PushListRequest): Promise<OperationResult> {
  const { taskId, tenant, pageSize, after } = request;
  const all = await requirePush(service).list(pushCaller(service, call, tenant), taskId);
  const before = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
  if (after !== undefined && before < 0)
    throw invalidField("pageToken", "refers to a configuration that does not exist");
  const configs = all.slice(before + 1, pageSize === undefined ? undefined : before + 1 + pageSize);
  const last = configs.at(-1);
  const hasMore = last !== undefined && before + 1 + configs.length < all.length;
  return { kind: "pushes", taskId, configs, ...(hasMore && { next: last.id }) };
}
