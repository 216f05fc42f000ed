import type { OperationRequest, OperationResult } from "../protocol/operation.ts";
import { authorize } from "./authorize.ts";
import type { Call } from "./call.ts";
import { negotiateExtensions } from "./extensions.ts";
import { cancelTask } from "./operations/cancel-task.ts";
import { createPush } from "./operations/create-push.ts";
import { deletePush } from "./operations/delete-push.ts";
import { getExtendedCard } from "./operations/get-extended-card.ts";
import { getPush } from "./operations/get-push.ts";
import { getTask } from "./operations/get-task.ts";
import { listPush } from "./operations/list-push.ts";
import { listTasks } from "./operations/list-tasks.ts";
import { sendMessage } from "./operations/send-message.ts";
import { streamMessage } from "./operations/stream-message.ts";
import { subscribeToTask } from "./operations/subscribe-to-task.ts";
import { agentNotFound } from "./refusals.ts";
import type { Service } from "./service.ts";
import type { TaskStream } from "./task-stream.ts";

/** Authorizes and performs a request. Throws or rejects with an `A2AError` for callers, or with any other error if the server fails. */
export function perform(
  service: Service,
  call: Call,
  request: OperationRequest,
): Promise<OperationResult | TaskStream> {
  if (service.missing !== undefined) throw agentNotFound(service.missing);
  authorize(service, call, request);
  negotiateExtensions(service, call);
  switch (request.operation) {
    case "send":
      return sendMessage(service, call, request);
    case "stream":
      return streamMessage(service, call, request);
    case "get":
      return getTask(service, call, request);
    case "list":
      return listTasks(service, call, request);
    case "cancel":
      return cancelTask(service, call, request);
    case "subscribe":
      return subscribeToTask(service, call, request);
    case "push-create":
      return createPush(service, call, request);
    case "push-get":
      return getPush(service, call, request);
    case "push-list":
      return listPush(service, call, request);
    case "push-delete":
      return deletePush(service, call, request);
    case "extended-card":
      return getExtendedCard(service, call);
  }
}
