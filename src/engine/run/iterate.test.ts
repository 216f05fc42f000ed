import { getEventListeners } from "node:events";
import { EMPTY, from, interval, Observable, of, Subject, throwError } from "rxjs";
import { describe, expect, test } from "vitest";
import type { ObservableLike, Output } from "../agent/agent.ts";
import { iterateResult, ObservableOverflow } from "./iterate.ts";

const idle = new AbortController().signal;

function iterate(result: unknown, options: { signal?: AbortSignal; maxBuffered?: number } = {}): AsyncIterable<Output> {
  const iterated = iterateResult(result, { signal: idle, maxBuffered: 10, ...options });
  if (iterated === undefined) throw new Error("not iterable");
  return iterated.values;
}

async function collect(iterable: AsyncIterable<Output>): Promise<Output[]> {
  const values: Output[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

/** An Observable that counts its subscriptions. */
function source() {
  const observers = new Set<Parameters<ObservableLike<Output>["subscribe"]>[0]>();
  let subscriptions = 0;
  const observable: ObservableLike<Output> = {
    subscribe(observer) {
      subscriptions += 1;
      observers.add(observer);
      return { unsubscribe: () => void observers.delete(observer) };
    },
  };
  return { observable, observers, subscriptions: () => subscriptions };
}

describe("iterateResult", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "abc"],
    ["a list", ["a"]],
    ["a set", new Set(["a"])],
    ["an object", { text: "a" }],
    ["a function", () => 1],
    ["a synchronous generator", (function* () {})()],
  ])("takes %s for a value", (_name, result) => {
    expect(iterateResult(result, { signal: idle, maxBuffered: 1 })).toBeUndefined();
  });

  test("reads an async generator, and leaving early runs its finally", async () => {
    let released = false;
    async function* run() {
      try {
        yield "a";
        yield "b";
      } finally {
        released = true;
      }
    }
    expect(await collect(iterate(run()))).toEqual(["a", "b"]);
    released = false;
    for await (const _value of iterate(run())) break;
    expect(released).toBe(true);
  });

  test("reads a ReadableStream", async () => {
    expect(await collect(iterate(ReadableStream.from(["a", "b"])))).toEqual(["a", "b"]);
  });

  test("reads an Observable that emits at once, in order", async () => {
    expect(await collect(iterate(of("a", "b", "c")))).toEqual(["a", "b", "c"]);
    expect(await collect(iterate(EMPTY))).toEqual([]);
  });

  test("reads an Observable that emits later", async () => {
    const subject = new Subject<string>();
    const collected = collect(iterate(subject));
    for (const value of ["a", "b", "c"]) {
      await Promise.resolve();
      subject.next(value);
    }
    subject.complete();
    expect(await collected).toEqual(["a", "b", "c"]);
    expect(subject.observed).toBe(false);
  });

  test("reads objects that offer an Observable, under either name", async () => {
    expect(await collect(iterate({ "@@observable": () => of("a") }))).toEqual(["a"]);
    const symbol = Symbol.for("observable");
    Object.defineProperty(Symbol, "observable", { value: symbol, configurable: true });
    try {
      expect(await collect(iterate({ [symbol]: () => of("b") }))).toEqual(["b"]);
    } finally {
      Reflect.deleteProperty(Symbol, "observable");
    }
  });

  test("fails with the Observable's error, after the values before it", async () => {
    const values: Output[] = [];
    const failing = new Observable<string>((subscriber) => {
      subscriber.next("a");
      subscriber.error(new Error("no more"));
    });
    const reading = (async () => {
      for await (const value of iterate(failing)) values.push(value);
    })();
    await expect(reading).rejects.toThrow("no more");
    expect(values).toEqual(["a"]);
    await expect(collect(iterate(throwError(() => new Error("at once"))))).rejects.toThrow("at once");
  });

  test("fails with ObservableOverflow if the Observable is too fast, delivers the buffered values, and unsubscribes", async () => {
    const { observable, observers } = source();
    const iterator = iterate(observable, { maxBuffered: 3 })[Symbol.asyncIterator]();
    const first = iterator.next();
    for (const observer of observers) for (const value of ["a", "b", "c", "d", "e", "f"]) observer.next(value);
    expect(observers.size).toBe(0);
    expect(await first).toEqual({ done: false, value: "a" });
    expect([await iterator.next(), await iterator.next(), await iterator.next()].map(({ value }) => value)).toEqual([
      "b",
      "c",
      "d",
    ]);
    const overflow = await iterator.next().catch((error: unknown) => error);
    expect(overflow).toBeInstanceOf(ObservableOverflow);
    expect(overflow).toMatchObject({ code: "observable-overflow", message: expect.stringContaining("3 values") });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test("a synchronous burst over the buffer fails too", async () => {
    let tornDown = false;
    const burst = new Observable<number>((subscriber) => {
      for (let value = 0; value < 50; value += 1) subscriber.next(value);
      return () => {
        tornDown = true;
      };
    });
    await expect(collect(iterate(burst, { maxBuffered: 10 }))).rejects.toThrow(ObservableOverflow);
    expect(tornDown).toBe(true);
  });

  test("a buffer as large as the burst is enough", async () => {
    expect(await collect(iterate(from([1, 2, 3]), { maxBuffered: 3 }))).toEqual([1, 2, 3]);
  });

  test("subscribes when first read, once", async () => {
    const { observable, observers, subscriptions } = source();
    const iterator = iterate(observable)[Symbol.asyncIterator]();
    expect(subscriptions()).toBe(0);
    const reads = [iterator.next(), iterator.next()];
    expect(subscriptions()).toBe(1);
    for (const observer of observers) for (const value of ["a", "b"]) observer.next(value);
    expect((await Promise.all(reads)).map(({ value }) => value)).toEqual(["a", "b"]);
  });

  test("leaving early unsubscribes, ends waiting reads and ignores further values", async () => {
    const { observable, observers } = source();
    const iterator = iterate(observable)[Symbol.asyncIterator]();
    const waiting = iterator.next();
    const [observer] = observers;
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(observers.size).toBe(0);
    observer?.next("late");
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test("leaving before the first read never subscribes", async () => {
    const { observable, subscriptions } = source();
    const iterator = iterate(observable)[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(subscriptions()).toBe(0);
  });

  test("break out of a loop stops a ticking Observable", async () => {
    let stopped = false;
    const ticking = new Observable<number>((subscriber) => {
      const inner = interval(1).subscribe(subscriber);
      return () => {
        stopped = true;
        inner.unsubscribe();
      };
    });
    for await (const _value of iterate(ticking)) break;
    expect(stopped).toBe(true);
  });

  test("an abort unsubscribes and fails the waiting read with its reason", async () => {
    const controller = new AbortController();
    const { observable, observers } = source();
    const iterator = iterate(observable, { signal: controller.signal })[Symbol.asyncIterator]();
    const waiting = iterator.next();
    controller.abort(new Error("canceled"));
    await expect(waiting).rejects.toThrow("canceled");
    expect(observers.size).toBe(0);
  });

  test("an abort before the first read fails it without subscribing", async () => {
    const { observable, subscriptions } = source();
    const signal = AbortSignal.abort(new Error("canceled"));
    await expect(collect(iterate(observable, { signal }))).rejects.toThrow("canceled");
    expect(subscriptions()).toBe(0);
  });

  test("an Observable that ended, was left or failed leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    await collect(iterate(of("a"), { signal }));
    await collect(
      iterate(
        throwError(() => new Error("no")),
        { signal },
      ),
    ).catch(() => {});
    const iterator = iterate(new Subject(), { signal })[Symbol.asyncIterator]();
    const waiting = iterator.next();
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await iterator.return?.();
    await waiting;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a subscribe that throws fails the read", async () => {
    const broken = {
      subscribe() {
        throw new Error("cannot");
      },
    };
    await expect(collect(iterate(broken))).rejects.toThrow("cannot");
  });
});
