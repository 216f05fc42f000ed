import type { Clock } from "../../internal/clock.ts";
import { RemoteError } from "./errors.ts";

/** The end of a call's time, and its caller's signal, as one signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why it ended, if it did. */
  readonly error: RemoteError | undefined;
  /** Lets go of timer and signal. */
  release(): void;
}

export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; `undefined` or `Infinity`: none. */
  readonly timeout?: number | undefined;
  /** The task that the call is about, asked for when the time is over. */
  readonly taskId?: (() => string | undefined) | undefined;
}

export function createDeadline(clock: Clock, { signal, timeout, taskId }: DeadlineOptions): Deadline {
  const controller = new AbortController();
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
  return new RemoteError("timeout", `The call was given up after ${timeout} ms.${which}`, {
    ...(taskId !== undefined && { taskId }),
  });
}

/** The error of a call whose signal was aborted. */
function abortedBy({ reason }: AbortSignal): RemoteError {
  return new RemoteError("aborted", "The call was given up by its caller.", { cause: reason });
}

/** Runs a call of the public API: an abort of its signal, before or meanwhile, is thrown as `aborted`, whatever its reason is. */
export async function abortable<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  if (signal === undefined) return call();
  // Calls within calls have signals whose reason says more, such as `timeout`.
  const error = (): RemoteError => (signal.reason instanceof RemoteError ? signal.reason : abortedBy(signal));
  if (signal.aborted) throw error();
  try {
    return await call();
  } catch (thrown) {
    throw signal.aborted && !(thrown instanceof RemoteError) ? error() : thrown;
  }
}

/** The promise, or a rejection with the signal's reason as soon as that aborts, whatever the promise does. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: raced, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  return raced;
}

/** Resolves after so many milliseconds; rejects with the signal's reason. */
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
