import { type ReadonlySignal, signal } from "@preact/signals";

/** Whether the server answers. Times are milliseconds since 1970. */
export interface Connection {
  /** When the server last answered. */
  readonly answeredAt: number | undefined;
  /** Since when it does not answer; `undefined`: it does. */
  readonly lostAt: number | undefined;
  /** When the page asks again. */
  readonly nextTryAt: number | undefined;
}

const state = signal<Connection>({ answeredAt: undefined, lostAt: undefined, nextTryAt: undefined });

/** Whether the server answers. */
export const connection: ReadonlySignal<Connection> = state;

/** Milliseconds before the first, second, … try after the connection was lost. */
const PAUSES = [500, 1000, 2000, 4000, 8000];
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const waiting = new Set<() => void>();

/** The server has answered, with whatever status. */
export function noteAnswer(): void {
  failures = 0;
  state.value = { answeredAt: Date.now(), lostAt: undefined, nextTryAt: undefined };
  // Whoever waits for the next try must not wait for a failure that does not come.
  tryNow();
}

/** A request got no answer. */
export function noteFailure(): void {
  if (timer !== undefined) return;
  const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 8000;
  failures += 1;
  const { answeredAt, lostAt = Date.now() } = state.value;
  state.value = { answeredAt, lostAt, nextTryAt: Date.now() + pause };
  timer = setTimeout(tryNow, pause);
}

/** Asks again at once. */
export function tryNow(): void {
  clearTimeout(timer);
  timer = undefined;
  const callbacks = [...waiting];
  waiting.clear();
  for (const callback of callbacks) callback();
}

/** Calls back at the next try. Returns a function that cancels it. */
export function onNextTry(callback: () => void): () => void {
  waiting.add(callback);
  return () => waiting.delete(callback);
}
