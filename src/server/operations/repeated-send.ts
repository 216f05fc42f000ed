import type { Ticket } from "../../engine/api.ts";
import { A2AError } from "../../protocol/error.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { type Call, scopeOf } from "../call.ts";
import { taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";

/**
 * The task that an earlier delivery of the same request created. A send with a `Last-Event-ID` is the automatic retry of a client, such as a
 * browser, after its stream broke: it must never start the work again.
 */
export async function repeatedTicket(service: Service, call: Call, request: SendRequest): Promise<Ticket> {
  const { agent, engine } = service;
  const scope = scopeOf(call, agent.id, request.tenant);
  const { messageId, taskId } = request.message;
  // 0.1 clients choose task ids, so look the task up by id; their messages may have no ids.
  if (call.policy.namesTasks && taskId !== undefined) {
    const named = await engine.find(scope, taskId);
    if (named === undefined) throw taskNotFound(taskId);
    return named;
  }
  const ticket = await engine.findByMessage(scope, messageId);
  if (ticket !== undefined) return ticket;
  const description = "resumes a stream, but no streaming send with this messageId is known";
  throw new A2AError("invalid-params", `Last-Event-ID: ${description}`, {
    violations: [{ field: "Last-Event-ID", description }],
  });
}
