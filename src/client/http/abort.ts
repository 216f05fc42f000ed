import type { Clock } from "../../internal/clock.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import { setCallTrace } from "./call-trace.ts";
import { RemoteError } from "./errors.ts";

/** A call's timeout and its caller's signal, combined into one signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal aborted, if it did. */
  readonly error: RemoteError | undefined;
  /** Removes the timer and the listener. */
  release(): void;
}

/** What ends a call early. */
export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; `undefined` or `Infinity`: no timeout. */
  readonly timeout?: number | undefined;
  /** Returns the task of the call, for the timeout error. */
  readonly taskId?: (() => string | undefined) | undefined;
  /** Where the call belongs in a trace. */
  readonly trace?: TraceContext | undefined;
}

/** Starts the timer at once. Call `release` in a `finally` block, or the timer and the listener stay. */
export function createDeadline(clock: Clock, { signal, timeout, taskId, trace }: DeadlineOptions): Deadline {
  const controller = new AbortController();
  setCallTrace(controller.signal, trace);
  let error: RemoteError | undefined;
  const end = (reason: RemoteError): void => {
    if (error !== undefined) return;
    error = reason;
    controller.abort(reason);
  };
  const onAbort = (): void => {
    if (signal !== undefined) end(abortedBy(signal));
  };
  const timer =
    timeout === undefined || timeout === Number.POSITIVE_INFINITY
      ? undefined
      : clock.setTimer(clock.now() + timeout, () => end(timedOut(timeout, taskId?.() || undefined)));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    get error() {
      return error;
    },
    release() {
      timer?.cancel();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

function timedOut(timeout: number, taskId: string | undefined): RemoteError {
  const which = taskId === undefined ? "" : ` The task is ${taskId}.`;
  return new RemoteError("timeout", `The call timed out after ${timeout} ms.${which}`, {
    ...(taskId !== undefined && { taskId }),
  });
}

/** The error of a call whose signal was aborted. */
function abortedBy({ reason }: AbortSignal): RemoteError {
  return new RemoteError("aborted", "The caller aborted the call.", { cause: reason });
}

/** Runs a call of the public API. If its signal aborts, before or during the call, it rejects with `aborted`, whatever the signal's reason. */
export async function abortable<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  if (signal === undefined) return call();
  // The signals of nested calls have a more precise reason, such as `timeout`.
  const error = (): RemoteError => (signal.reason instanceof RemoteError ? signal.reason : abortedBy(signal));
  if (signal.aborted) throw error();
  try {
    return await call();
  } catch (thrown) {
    throw signal.aborted && !(thrown instanceof RemoteError) ? error() : thrown;
  }
}

/** Settles like the promise, or rejects with the signal's reason as soon as it aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: raced, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  return raced;
}

/** Resolves after this many milliseconds. Rejects with the signal's reason if it aborts first. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    timer.cancel();
    reject(signal.reason);
  };
  const timer = clock.setTimer(clock.now() + milliseconds, () => {
    signal.removeEventListener("abort", onAbort);
    resolve();
  });
  signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}
