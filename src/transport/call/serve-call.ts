import { CALL_PATH_HEADER } from "../../protocol/call-path.ts";
import { A2AError, toA2AError } from "../../protocol/error.ts";
import type { OperationRequest, OperationResult } from "../../protocol/operation.ts";
import type { Principal } from "../../protocol/principal.ts";
import { acceptCallPath } from "../../server/accept-call-path.ts";
import { perform } from "../../server/perform.ts";
import { opensStream, type TaskStream } from "../../server/task-stream.ts";
import { authenticateExchange } from "../authentication.ts";
import type { Endpoint } from "../endpoint.ts";
import { rateLimited, rateLimitHeaders } from "../rate-limit/rate-limit-headers.ts";
import { callerKey } from "../rate-limit/request-limits.ts";
import type { StreamPlace } from "../streams/stream-registry.ts";
import type { ServedCall } from "./served-call.ts";

/** What a call leads to, whatever binding carries it. */
export type CallOutcome =
  | { readonly kind: "result"; readonly result: OperationResult }
  /** Whoever presents the stream must release its place when the stream ends. */
  | { readonly kind: "stream"; readonly stream: TaskStream; readonly place: StreamPlace | undefined }
  | { readonly kind: "error"; readonly error: A2AError };

/** How one binding reads requests. */
export interface CallReader<S extends ServedCall> {
  /** Reads and validates the request, and stores in `call` what it finds out. Called once the caller is known and within its limits. */
  read(endpoint: Endpoint, call: S): Promise<OperationRequest>;
  /**
   * Reads as much of a refused request as is needed to write the error in the caller's version. Must read little, and may reject. Absent:
   * the headers are enough.
   */
  identify?(endpoint: Endpoint, call: S): Promise<void>;
  /** Authenticates the caller by the headers. Absent: for the agent that the headers name. */
  authenticate?(endpoint: Endpoint, call: S): Promise<Principal>;
}

/** Authenticates the caller, counts the request, reads it, checks its call path and performs it. Never rejects. */
export async function serveCall<S extends ServedCall>(
  endpoint: Endpoint,
  call: S,
  reader: CallReader<S>,
): Promise<CallOutcome> {
  const { environment } = endpoint;
  const { exchange } = call;
  let place: StreamPlace | undefined;
  try {
    try {
      if (environment.authenticate !== undefined) {
        call.principal =
          reader.authenticate === undefined
            ? await authenticateExchange(exchange, call.service.agent.id, environment)
            : await reader.authenticate(endpoint, call);
      }
      countRequest(endpoint, call);
    } catch (error) {
      await reader.identify?.(endpoint, call).catch(() => undefined);
      throw error;
    }
    call.request = await reader.read(endpoint, call);
    const { service } = call;
    // Before a stream takes its place: whether a loop is detected must not depend on a free place.
    const accepted = acceptCallPath(service, call.request, exchange.header(CALL_PATH_HEADER));
    const { request, callPath, ancestry } = accepted instanceof Promise ? await accepted : accepted;
    call.callPath = callPath;
    call.ancestry = ancestry;
    if (opensStream(request.operation)) {
      // Anonymous callers count by their network address.
      place = endpoint.streams.admit(callerKey(call.principal, environment.remoteOf(exchange)));
    }
    const result = await perform(service, call, request);
    if (result.kind === "stream") return { kind: "stream", stream: result, place };
    place?.release();
    return { kind: "result", result };
  } catch (thrown) {
    place?.release();
    return { kind: "error", error: callError(call, thrown) };
  }
}

/** The error to answer with. A caller that disconnects must not be logged as a failure of the server. */
export function callError({ exchange }: ServedCall, thrown: unknown): A2AError {
  const { signal } = exchange;
  const isGone = signal.aborted && thrown === signal.reason;
  return isGone ? new A2AError("unavailable", "The caller is gone", { cause: thrown }) : toA2AError(thrown);
}

/** Counts a request of the call's principal. Throws `rate-limited` if the caller has sent too many. */
export function countRequest({ environment }: Endpoint, call: ServedCall): void {
  const allowance = environment.requestLimits?.ofPrincipal(call.principal, environment.remoteOf(call.exchange));
  if (allowance === undefined) return;
  call.limitHeaders = rateLimitHeaders(allowance, Date.now());
  if (!allowance.allowed) throw rateLimited(allowance);
}
