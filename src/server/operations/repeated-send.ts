import type { Ticket } from "../../engine/api.ts";
import { A2AError } from "../../protocol/error.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { Service } from "../service.ts";

/**
 * The task that an earlier delivery of the same request made. A send with a `Last-Event-ID` is a client's (a browser's, say)
 * automatic repetition after its stream broke: it must never start the work a second time.
 */
export async function repeatedTicket({ engine }: Service, scope: Scope, request: SendRequest): Promise<Ticket> {
  const ticket = await engine.findByMessage(scope, request.message.messageId);
  if (ticket !== undefined) return ticket;
  const description = "resumes a stream, but no streaming send with this messageId is known";
  throw new A2AError("invalid-params", `Last-Event-ID: ${description}`, {
    violations: [{ field: "Last-Event-ID", description }],
  });
}
