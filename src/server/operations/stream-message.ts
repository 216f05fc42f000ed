import type { SendRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { type Call, scopeOf } from "../call.ts";
import { decodeCursor } from "../cursor.ts";
import { checkMediaTypes } from "../media-types.ts";
import { pushNotSupported, streamingNotSupported, taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { CallSubmission } from "../submission.ts";
import { messageStream, subscriptionStream, type TaskStream } from "../task-stream.ts";
import { repeatedTask } from "./repeated-send.ts";
import { resumedStream } from "./subscribe-to-task.ts";

/** Sends a message and streams what comes of it: the task and its events, or exactly one message. */
export async function streamMessage(service: Service, call: Call, request: SendRequest): Promise<TaskStream> {
  const { agent, engine, card } = service;
  if (card.capabilities.streaming !== true) throw streamingNotSupported();
  if (request.push !== undefined) throw pushNotSupported();
  const scope = scopeOf(call, agent.id, request.tenant);
  const cursor = decodeCursor(call.lastEventId);
  if (cursor !== undefined) return resume(service, call, { scope, request, cursor });
  checkMediaTypes(agent, request);
  const submitted = await engine.submit(new CallSubmission(call, scope, request));
  if (submitted.kind === "message") return messageStream(submitted.message);
  const { ticket } = submitted;
  const subscription = await engine.subscribe(scope, ticket.taskId, { ticket });
  if (subscription === undefined) throw taskNotFound(ticket.taskId);
  const { closeOnInputRequired } = call.policy;
  return subscriptionStream(subscription, { closeOnInputRequired, complete: subscription.ended });
}

interface Repeated {
  readonly scope: Scope;
  readonly request: SendRequest;
  readonly cursor: number;
}

async function resume(service: Service, call: Call, { scope, request, cursor }: Repeated): Promise<TaskStream> {
  const taskId = await repeatedTask(service, scope, request);
  const { closeOnInputRequired } = call.policy;
  return resumedStream(service, call, { scope, taskId, cursor, closeOnInputRequired });
}
