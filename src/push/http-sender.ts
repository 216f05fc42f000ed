import type { Clock } from "../internal/clock.ts";
import type { Outgoing } from "../outgoing/contract.ts";
import { OutgoingFailure, OutgoingRefused } from "../outgoing/errors.ts";
import { retryAfterOf } from "./back-off.ts";

/** Sends HTTP requests, after checking that the address is allowed. */
export type HttpSender = Pick<Outgoing, "check" | "fetch">;

/**
 * The result of one request. `gone`: the receiver answered 410 and wants no more. `refused`: requests to this address are not allowed.
 * `failed`: a retry may succeed; `silent`: the host did not answer. `aborted`: this process aborted the request.
 */
export type PostResult =
  | { readonly kind: "delivered" | "gone"; readonly httpStatus: number }
  | { readonly kind: "refused"; readonly reason: string }
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly httpStatus?: number;
      /** Milliseconds that the receiver asks to wait before a retry. */
      readonly retryAfter?: number;
      readonly silent: boolean;
    }
  | { readonly kind: "aborted" };

/** One notification to send. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Milliseconds until the request is aborted. */
  readonly timeout: number;
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /** Called when the connection is open, before anything is sent. It may abort the request. */
  readonly beforeSend: () => void;
}

/** The answer is ignored except for its status and `Retry-After`. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;

/** Sends one request. Never rejects. */
export async function post(sender: HttpSender, clock: Clock, request: PostRequest): Promise<PostResult> {
  if (request.signal.aborted) return { kind: "aborted" };
  const { timeout } = request;
  const tooLate = new AbortController();
  const timer = clock.setTimer(clock.now() + timeout, () => tooLate.abort(), { unref: true });
  const signal = AbortSignal.any([request.signal, tooLate.signal]);
  try {
    const response = await send(sender, request, signal);
    // A `Retry-After` may be a date, which is relative to the wall clock.
    return resultOf(response, Date.now());
  } catch (error) {
    if (request.signal.aborted) return { kind: "aborted" };
    if (tooLate.signal.aborted) return { kind: "failed", reason: `no answer within ${timeout} ms`, silent: true };
    if (error instanceof OutgoingRefused) return { kind: "refused", reason: error.message };
    return { kind: "failed", reason: reasonOf(error), silent: true };
  } finally {
    timer.cancel();
  }
}

/** Follows only 307 and 308, and only within one origin: other redirects become GET and drop the body. */
async function send(sender: HttpSender, request: PostRequest, signal: AbortSignal): Promise<Response> {
  const { url, headers, body, beforeSend } = request;
  let target = url;
  for (let redirects = 0; ; redirects++) {
    const response = await sender.fetch(target, {
      method: "POST",
      headers,
      body,
      signal,
      redirect: "manual",
      beforeSend,
      // `signal` enforces the timeout, by the clock of the options.
      timeout: Number.POSITIVE_INFINITY,
      maxBytes: MAX_ANSWER_BYTES,
    });
    await discard(response);
    const location = response.headers.get("location");
    if (location === null || response.status < 300 || response.status > 399) return response;
    const next = URL.parse(location, target);
    const { host, origin } = new URL(target);
    if (next?.origin !== origin) {
      throw new OutgoingRefused("redirect", `${host} redirects to another origin, which is not followed.`);
    }
    if (response.status < 307) return response;
    if (redirects === MAX_REDIRECTS)
      throw new OutgoingRefused("redirect", `${host} redirects more than ${MAX_REDIRECTS} times.`);
    target = next.href;
  }
}

/** Ignores the body of the answer. A short body is read to its end, so that the connection can be reused. */
async function discard(response: Response): Promise<void> {
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  const reading = length <= MAX_ANSWER_BYTES ? response.arrayBuffer() : response.body?.cancel();
  await reading?.catch(() => {});
}

/** Only 2xx counts as delivered (A2A 1.0 §13.2). */
function resultOf({ status, headers }: Response, now: number): PostResult {
  if (status >= 200 && status < 300) return { kind: "delivered", httpStatus: status };
  if (status === 410) return { kind: "gone", httpStatus: status };
  const retryAfter = retryAfterOf(headers.get("retry-after"), now);
  return {
    kind: "failed",
    reason: `HTTP ${status}`,
    httpStatus: status,
    silent: false,
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** Never includes text from the receiver, which may be anything. */
function reasonOf(error: unknown): string {
  return error instanceof OutgoingFailure ? error.message : "the request failed";
}
