import type { A2AError } from "../../protocol/error.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import { auditEntry } from "../audit.ts";
import type { Exchange, FullReply, Reply } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import type { Mount } from "../router.ts";
import { traceOf } from "../trace-of.ts";
import { rateLimited, rateLimitHeaders } from "./rate-limit-headers.ts";

/** A request that counts for the rate limit of its network address. */
export interface LimitedRequest {
  readonly exchange: Exchange;
  /** The agent that the request is for, as far as that is known before it is read. */
  readonly mount: Mount;
  answer(): Reply | Promise<Reply>;
  /** Writes an error in the format that the caller expects. */
  refuse(error: A2AError): FullReply;
}

/** Answers if the address is within its rate limit, and adds the limit's headers. */
export async function answerWithinLimit(environment: TransportEnvironment, request: LimitedRequest): Promise<Reply> {
  const { exchange, mount } = request;
  const allowance = environment.requestLimits?.ofAddress(environment.remoteOf(exchange));
  if (allowance === undefined) return request.answer();
  const headers = rateLimitHeaders(allowance, Date.now());
  if (allowance.allowed) {
    const reply = await request.answer();
    const remaining = reply.headers["ratelimit-remaining"];
    // Of two limits, report the one that will be reached first.
    if (remaining !== undefined && Number(remaining) <= allowance.remaining) return reply;
    return { ...reply, headers: { ...reply.headers, ...headers } };
  }
  const error = rateLimited(allowance);
  environment.onAddressLimit?.();
  // Log only the first refusal in a row: a flood must not fill the disk.
  if (allowance.isFirstRefusal) {
    environment.audit?.(
      auditEntry({
        principal: ANONYMOUS,
        agent: mount(exchange).agent.id,
        operation: undefined,
        tenant: undefined,
        taskId: undefined,
        remote: environment.remoteOf(exchange),
        outcome: error.code,
        trace: traceOf(exchange),
      }),
    );
  }
  const refusal = request.refuse(error);
  return { ...refusal, headers: { ...refusal.headers, ...headers, "retry-after": String(error.retryAfter) } };
}
