import type { ObservableLike, Output } from "../agent/agent.ts";

export interface IterateOptions {
  /** Unsubscribes from an Observable when aborted. The iteration then fails with the signal's reason. */
  readonly signal: AbortSignal;
  /** How many values of an Observable may wait to be read. */
  readonly maxBuffered: number;
}

/** An Observable produced values faster than they could be written. */
export class ObservableOverflow extends Error {
  override readonly name = "ObservableOverflow";
  readonly code = "observable-overflow";

  constructor(maxBuffered: number) {
    super(
      `The Observable was more than ${maxBuffered} values ahead of what could be written. Yield from an async generator, which waits, or produce less at a time.`,
    );
  }
}

/** The values of a run. */
export interface Iterated {
  readonly values: AsyncIterable<Output>;
  /** They come from an Observable, so some may be events. */
  readonly isObservable: boolean;
}

/**
 * Returns the result of a run as an async iterable, if it is one or is an Observable. `undefined` for everything else: strings, arrays and other
 * synchronous iterables are single values. An Observable is read through a bounded buffer: it is subscribed to at the first read, and
 * unsubscribed from at its end, at `return()`, at an overflow and at an abort. Values that came before an error are delivered before it.
 */
export function iterateResult(result: unknown, options: IterateOptions): Iterated | undefined {
  if (result === null || (typeof result !== "object" && typeof result !== "function")) return undefined;
  if (isAsyncIterable(result)) return { values: result, isObservable: false };
  const observable = observableOf(result);
  if (observable === undefined) return undefined;
  const values = { [Symbol.asyncIterator]: () => new ObservableIterator(observable, options) };
  return { values, isObservable: true };
}

function isAsyncIterable(value: object): value is AsyncIterable<Output> {
  return typeof memberOf(value, Symbol.asyncIterator) === "function";
}

function observableOf(value: object): ObservableLike<Output> | undefined {
  if (isObservable(value)) return value;
  for (const key of [memberOf(Symbol, "observable"), "@@observable"]) {
    if (typeof key !== "symbol" && typeof key !== "string") continue;
    const interop = memberOf(value, key);
    const inner: unknown = typeof interop === "function" ? Reflect.apply(interop, value, []) : undefined;
    if (typeof inner === "object" && inner !== null && isObservable(inner)) return inner;
  }
  return undefined;
}

function isObservable(value: object): value is ObservableLike<Output> {
  return typeof memberOf(value, "subscribe") === "function";
}

function memberOf(value: object, key: PropertyKey): unknown {
  return Reflect.get(value, key);
}

type Result = IteratorResult<Output, undefined>;
interface Reader {
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

const DONE: Result = { done: true, value: undefined };

class ObservableIterator implements AsyncIterator<Output, undefined> {
  readonly #observable: ObservableLike<Output>;
  readonly #options: IterateOptions;
  readonly #values: Output[] = [];
  readonly #readers: Reader[] = [];
  #subscription: { unsubscribe(): void } | undefined;
  #started = false;
  /** No more values arrive. A failure is delivered once, after the values that wait. */
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor(observable: ObservableLike<Output>, options: IterateOptions) {
    this.#observable = observable;
    this.#options = options;
  }

  async next(): Promise<Result> {
    if (!this.#started) this.#start();
    // The length decides, not the value: an Observable may emit `undefined`.
    if (this.#values.length > 0) return { done: false, value: this.#values.shift() as Output };
    if (!this.#ended) {
      const reader = Promise.withResolvers<Result>();
      this.#readers.push(reader);
      return reader.promise;
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.reason;
    return DONE;
  }

  return(): Promise<Result> {
    this.#started = true;
    this.#values.length = 0;
    this.#failure = undefined;
    this.#end();
    return Promise.resolve(DONE);
  }

  #start(): void {
    this.#started = true;
    const { signal } = this.#options;
    if (signal.aborted) {
      this.#abort();
      return;
    }
    signal.addEventListener("abort", this.#abort, { once: true });
    try {
      this.#subscription = this.#observable.subscribe({
        next: (value) => this.#take(value),
        error: (reason) => this.#fail(reason),
        complete: () => this.#end(),
      });
    } catch (reason) {
      this.#fail(reason);
    }
    // It may have ended during `subscribe`, before the subscription was known.
    if (this.#ended) this.#release();
  }

  readonly #abort = (): void => {
    this.#values.length = 0;
    this.#fail(this.#options.signal.reason);
  };

  #take(value: Output): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value });
    else if (this.#values.length < this.#options.maxBuffered) this.#values.push(value);
    else this.#fail(new ObservableOverflow(this.#options.maxBuffered));
  }

  #fail(reason: unknown): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#failure = { reason };
    else reader.reject(reason);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader.resolve(DONE);
    this.#release();
  }

  #release(): void {
    this.#options.signal.removeEventListener("abort", this.#abort);
    const subscription = this.#subscription;
    this.#subscription = undefined;
    subscription?.unsubscribe();
  }
}
