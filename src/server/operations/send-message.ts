import type { Ticket } from "../../engine/api.ts";
import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import { A2AError } from "../../protocol/error.ts";
import type { OperationResult, SendRequest } from "../../protocol/operation.ts";
import { type Call, cursorOf } from "../call.ts";
import type { Service } from "../service.ts";
import { showsStateHistory } from "../state-history.ts";
import { submitMessage } from "../submission.ts";
import { repeatedTicket } from "./repeated-send.ts";

/** Sends a message. Returns the task, by default once it is finished or waits for the caller, or the agent's message (A2A 1.0 §3.1.1). */
export async function sendMessage(service: Service, call: Call, request: SendRequest): Promise<OperationResult> {
  const isRepeated = cursorOf(call) !== undefined;
  const submitting = isRepeated ? undefined : submitMessage(service, call, request);
  const submitted = submitting instanceof Promise ? await submitting : submitting;
  if (submitted?.kind === "message") return { kind: "replied", message: submitted.message };
  const ticket = submitted?.ticket ?? (await repeatedTicket(service, call, request));
  if (request.waitMs === Number.POSITIVE_INFINITY) await ticket.settled(call);
  else await waitFor(ticket, call, request);
  const found = ticket.snapshot({
    artifacts: true,
    history: request.history,
    largeBytes: LARGE_BYTES,
    stateHistory: showsStateHistory(service.agent),
  });
  const task = found instanceof Promise ? await found : found;
  if (task === undefined) throw new A2AError("internal", "The task was deleted before it could be returned");
  return { kind: "sent", task };
}

/**
 * Waits until the task is finished or interrupted, at most `waitMs`. A send that does not wait that long is answered once the question that
 * it answers is no longer visible.
 */
async function waitFor(ticket: Ticket, call: Call, { waitMs }: SendRequest): Promise<void> {
  await ticket.stored();
  if (waitMs === 0) return ticket.consumed(call);
  const timeout = AbortSignal.timeout(waitMs);
  await ticket.settled({ signal: AbortSignal.any([call.signal, timeout]) }).catch((thrown: unknown) => {
    if (thrown !== timeout.reason) throw thrown;
  });
  await ticket.consumed(call);
}
