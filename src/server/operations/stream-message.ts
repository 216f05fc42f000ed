import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { type Call, scopeOf } from "../call.ts";
import { decodeCursor } from "../cursor.ts";
import { webhookConfigsFor } from "../push-caller.ts";
import { streamingNotSupported, taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { submitMessage } from "../submission.ts";
import { messageStream, subscriptionStream, type TaskStream } from "../task-stream.ts";
import { repeatedTicket } from "./repeated-send.ts";
import { resumedStream } from "./subscribe-to-task.ts";

/** Sends a message and streams the task and its events, or exactly one message (A2A 1.0 §3.1.2). */
export async function streamMessage(service: Service, call: Call, request: SendRequest): Promise<TaskStream> {
  const { agent, engine, card } = service;
  if (card.capabilities.streaming !== true) throw streamingNotSupported();
  const configs = webhookConfigsFor(service, request);
  const scope = scopeOf(call, agent.id, request.tenant);
  const cursor = decodeCursor(call.lastEventId);
  if (cursor !== undefined) return resume(service, call, { scope, request, cursor });
  const submitted = await submitMessage(service, call, { request, configs });
  if (submitted.kind === "message") return messageStream(submitted.message);
  const { ticket } = submitted;
  const subscription = await engine.subscribe(scope, ticket.taskId, { ticket, largeBytes: LARGE_BYTES });
  if (subscription === undefined) throw taskNotFound(ticket.taskId);
  const { closeOnInputRequired } = call.policy;
  const isAsked = closeOnInputRequired && subscription.opening.state === "input-required" && subscription.answered;
  return subscriptionStream(subscription, { closeOnInputRequired, complete: subscription.ended || isAsked });
}

interface Repeated {
  readonly scope: Scope;
  readonly request: SendRequest;
  readonly cursor: number;
}

async function resume(service: Service, call: Call, { scope, request, cursor }: Repeated): Promise<TaskStream> {
  const { closeOnInputRequired } = call.policy;
  const { taskId } = await repeatedTicket(service, call, request);
  return resumedStream(service, call, { scope, taskId, cursor, closeOnInputRequired });
}
