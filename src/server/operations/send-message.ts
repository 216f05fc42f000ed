import type { Engine, Ticket } from "../../engine/api.ts";
import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import { A2AError } from "../../protocol/error.ts";
import type { OperationResult, SendRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { type Call, scopeOf } from "../call.ts";
import { decodeCursor } from "../cursor.ts";
import { webhookConfigsFor } from "../push-caller.ts";
import type { Service } from "../service.ts";
import { showsStateHistory } from "../state-history.ts";
import { submitMessage } from "../submission.ts";
import { repeatedTicket } from "./repeated-send.ts";

/** Sends a message. Returns the task, by default once it is finished or waits for the caller, or the agent's message (A2A 1.0 §3.1.1). */
export async function sendMessage(service: Service, call: Call, request: SendRequest): Promise<OperationResult> {
  const { agent } = service;
  const configs = webhookConfigsFor(service, request);
  const scope = scopeOf(call, agent.id, request.tenant);
  if (decodeCursor(call.lastEventId) !== undefined) {
    return finish(service, { call, request, scope, ticket: await repeatedTicket(service, call, request) });
  }
  const submitted = await submitMessage(service, call, { request, configs });
  if (submitted.kind === "message") return { kind: "replied", message: submitted.message };
  return finish(service, { call, request, scope, ticket: submitted.ticket });
}

interface Sent {
  readonly call: Call;
  readonly request: SendRequest;
  readonly scope: Scope;
  readonly ticket: Ticket;
}

async function finish({ agent, engine }: Service, { call, request, scope, ticket }: Sent): Promise<OperationResult> {
  await waitFor(engine, { call, request, ticket });
  const task = await engine.snapshot(scope, ticket.taskId, {
    artifacts: true,
    history: request.history,
    largeBytes: LARGE_BYTES,
    stateHistory: showsStateHistory(agent),
  });
  if (task === undefined) throw new A2AError("internal", "The task was deleted before it could be returned");
  return { kind: "sent", task };
}

/**
 * Waits until the task is finished or interrupted, at most `waitMs`. A send that does not wait that long is answered once the question that
 * it answers is no longer visible.
 */
async function waitFor(engine: Engine, { call, request, ticket }: Omit<Sent, "scope">): Promise<void> {
  const { waitMs } = request;
  if (waitMs === Number.POSITIVE_INFINITY) return engine.settled(ticket, call);
  await engine.accepted(ticket);
  if (waitMs === 0) return engine.consumed(ticket, call);
  const timeout = AbortSignal.timeout(waitMs);
  await engine.settled(ticket, { signal: AbortSignal.any([call.signal, timeout]) }).catch((thrown: unknown) => {
    if (thrown !== timeout.reason) throw thrown;
  });
  await engine.consumed(ticket, call);
}
