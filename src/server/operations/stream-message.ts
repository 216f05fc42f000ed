import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { type Call, cursorOf, scopeOf } from "../call.ts";
import { streamingNotSupported } from "../refusals.ts";
import type { Service } from "../service.ts";
import { submitMessage } from "../submission.ts";
import { messageStream, subscriptionStream, type TaskStream } from "../task-stream.ts";
import { repeatedTicket } from "./repeated-send.ts";
import { resumedStream } from "./subscribe-to-task.ts";

/** Sends a message and streams the task and its events, or exactly one message (A2A 1.0 §3.1.2). */
export async function streamMessage(service: Service, call: Call, request: SendRequest): Promise<TaskStream> {
  if (service.card.capabilities.streaming !== true) throw streamingNotSupported();
  const cursor = cursorOf(call);
  if (cursor !== undefined) return resume(service, call, { request, cursor });
  const submitted = await submitMessage(service, call, request);
  if (submitted.kind === "message") return messageStream(submitted.message);
  const subscription = await submitted.ticket.subscribe({ largeBytes: LARGE_BYTES });
  const { closeOnInputRequired } = call.policy;
  const isAsked = closeOnInputRequired && subscription.opening.state === "input-required" && subscription.answered;
  return subscriptionStream(subscription, { closeOnInputRequired, complete: subscription.ended || isAsked });
}

interface Repeated {
  readonly request: SendRequest;
  readonly cursor: number;
}

async function resume(service: Service, call: Call, { request, cursor }: Repeated): Promise<TaskStream> {
  const scope = scopeOf(call, service.agent.id, request.tenant);
  const { closeOnInputRequired } = call.policy;
  const { taskId } = await repeatedTicket(service, call, request);
  return resumedStream(service, call, { scope, taskId, cursor, closeOnInputRequired });
}
