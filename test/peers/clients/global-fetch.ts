import { AsyncLocalStorage } from "node:async_hooks";

const lent = new AsyncLocalStorage<typeof fetch | undefined>();
const own = globalThis.fetch;

/** For clients that use the global `fetch` and take no other: what they call while they work is the one lent to them. */
globalThis.fetch = (input, init) => {
  const lentFetch = lent.getStore();
  // Whoever lends one may use the global one itself.
  return lentFetch === undefined ? own(input, init) : lent.exit(() => lentFetch(input, init));
};

/** Such clients also tell the console of every error that they throw. */
const tell = console.error;
console.error = (...told: unknown[]) => {
  if (lent.getStore() === undefined) tell(...told);
};

export function lending<T>(fetch: typeof globalThis.fetch, work: () => T): T {
  return lent.run(fetch, work);
}

/** A stream is work as long as it is read. */
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
