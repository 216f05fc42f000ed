import { AsyncLocalStorage } from "node:async_hooks";

const replacement = new AsyncLocalStorage<typeof fetch | undefined>();
const own = globalThis.fetch;

const replacementOrOwn: typeof fetch = (input, init) => {
  const fetch = replacement.getStore();
  // The given `fetch` may itself use the global one.
  return fetch === undefined ? own(input, init) : replacement.exit(() => fetch(input, init));
};

/** These clients also write every error they throw to the console. */
const logError = console.error;
console.error = (...values: unknown[]) => {
  if (replacement.getStore() === undefined) logError(...values);
};

/**
 * Some clients use the global `fetch` and accept no other: while `work` runs, they get the given one. It is replaced at every
 * call, because another test file of this process may have restored the original one in between.
 */
export function withFetch<T>(fetch: typeof globalThis.fetch, work: () => T): T {
  globalThis.fetch = replacementOrOwn;
  return replacement.run(fetch, work);
}

/** A stream runs as long as it is read. */
export async function* streamWithFetch<T>(
  fetch: typeof globalThis.fetch,
  open: () => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const stream = withFetch(fetch, open);
  try {
    for (;;) {
      const next = await withFetch(fetch, () => stream.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await stream.return();
  }
}
