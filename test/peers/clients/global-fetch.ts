import { AsyncLocalStorage } from "node:async_hooks";

const lent = new AsyncLocalStorage<typeof fetch | undefined>();
const own = globalThis.fetch;

/** Some clients use the global `fetch` and accept no other: while they run, this replaces it with the given `fetch`. */
globalThis.fetch = (input, init) => {
  const lentFetch = lent.getStore();
  // The given `fetch` may itself use the global one.
  return lentFetch === undefined ? own(input, init) : lent.exit(() => lentFetch(input, init));
};

/** These clients also write every error they throw to the console. */
const tell = console.error;
console.error = (...told: unknown[]) => {
  if (lent.getStore() === undefined) tell(...told);
};

export function lending<T>(fetch: typeof globalThis.fetch, work: () => T): T {
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
