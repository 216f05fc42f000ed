import { AsyncLocalStorage } from "node:async_hooks";

const lent = new AsyncLocalStorage<typeof fetch | undefined>();
const own = globalThis.fetch;

const lentOrOwn: typeof fetch = (input, init) => {
  const lentFetch = lent.getStore();
  // The given `fetch` may itself use the global one.
  return lentFetch === undefined ? own(input, init) : lent.exit(() => lentFetch(input, init));
};

/** These clients also write every error they throw to the console. */
const tell = console.error;
console.error = (...values: unknown[]) => {
  if (lent.getStore() === undefined) tell(...values);
};

/**
 * Some clients use the global `fetch` and accept no other: while `work` runs, they get the given one. It is replaced at every
 * call, because another test file of this process may have restored the original one in between.
 */
export function lending<T>(fetch: typeof globalThis.fetch, work: () => T): T {
  globalThis.fetch = lentOrOwn;
  return lent.run(fetch, work);
}

/** A stream runs as long as it is read. */
export async function* lendingStream<T>(
  fetch: typeof globalThis.fetch,
  open: () => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const stream = lending(fetch, open);
  try {
    for (;;) {
      const next = await lending(fetch, () => stream.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await stream.return();
  }
}
