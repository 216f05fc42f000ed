/** A promise with the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T | PromiseLike<T>): void;
  reject(reason: unknown): void;
}

export interface DeferredOptions {
  /** A rejection without a handler is not reported as unhandled; handlers still receive it. */
  readonly handled?: boolean;
}

/** Unlike `Promise.withResolvers`, it can be marked as handled. */
export function createDeferred<T = void>(options: DeferredOptions = {}): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  if (options.handled === true) promise.catch(ignore);
  return { promise, resolve, reject };
}

function ignore(): void {}
