import type { Ticket } from "../../engine/api.ts";
import { A2AError } from "../../protocol/error.ts";
import type { OperationResult, SendRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { type Call, scopeOf } from "../call.ts";
import { decodeCursor } from "../cursor.ts";
import { checkMediaTypes } from "../media-types.ts";
import { pushNotSupported, taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { CallSubmission } from "../submission.ts";
import { repeatedTask } from "./repeated-send.ts";

/** Sends a message and answers with the task, by default once it is finished or waits for the caller; or with the agent's bare reply. */
export async function sendMessage(service: Service, call: Call, request: SendRequest): Promise<OperationResult> {
  const { agent, engine } = service;
  if (request.push !== undefined) throw pushNotSupported();
  const scope = scopeOf(call, agent.id, request.tenant);
  if (decodeCursor(call.lastEventId) !== undefined) {
    return finish(service, { call, request, scope, ticket: await ticketOfRepeated(service, scope, request) });
  }
  checkMediaTypes(agent, request);
  const submitted = await engine.submit(new CallSubmission(call, scope, request));
  if (submitted.kind === "message") return { kind: "replied", message: submitted.message };
  return finish(service, { call, request, scope, ticket: submitted.ticket });
}

interface Sent {
  readonly call: Call;
  readonly request: SendRequest;
  readonly scope: Scope;
  readonly ticket: Ticket;
}

async function finish({ engine }: Service, { call, request, scope, ticket }: Sent): Promise<OperationResult> {
  if (request.wait) await engine.settled(ticket, call);
  else await engine.accepted(ticket);
  const task = await engine.snapshot(scope, ticket.taskId, { artifacts: true, history: request.history });
  if (task === undefined) throw new A2AError("internal", "The task was deleted before it could be returned");
  return { kind: "sent", task };
}

async function ticketOfRepeated(service: Service, scope: Scope, request: SendRequest): Promise<Ticket> {
  const taskId = await repeatedTask(service, scope, request);
  const task = await service.engine.snapshot(scope, taskId, { artifacts: false, history: 0 });
  if (task === undefined) throw taskNotFound(taskId);
  return { taskId, contextId: task.contextId };
}
