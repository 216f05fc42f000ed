import { useEffect, useState } from "preact/hooks";
import { onNextTry } from "./connection.ts";
import { ApiError } from "./operator-api.ts";

/** What a page reads again and again. The last value stays while the server does not answer. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** Reads again at once. */
  readonly reload: () => void;
}

export interface PollOptions<T> {
  /** What is read; another key starts again. */
  readonly key: string;
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** Milliseconds between two reads. Absent: it is read once. */
  readonly every?: number | undefined;
}

/** Reads a value, again every `every` milliseconds while the page is visible, and as soon as a lost connection is back. */
export function usePolled<T>({ key, load, every }: PollOptions<T>): Polled<T> {
  const [state, setState] = useState<{ readonly key: string; readonly value?: T; readonly error?: ApiError }>({ key });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let cancelTry: (() => void) | undefined;
    const read = async (): Promise<void> => {
      try {
        const value = await load(abort.signal);
        setState({ key, value });
        if (every !== undefined) timer = setTimeout(whenVisible, every);
      } catch (error) {
        if (abort.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(String(error), 0, key);
        setState((before) => (before.key === key ? { ...before, error: failure } : { key, error: failure }));
        if (failure.status === 0) cancelTry = onNextTry(() => void read());
        else if (every !== undefined && failure.status !== 401) timer = setTimeout(whenVisible, every);
      }
    };
    const whenVisible = (): void => {
      if (!document.hidden) void read();
      else document.addEventListener("visibilitychange", whenVisible, { once: true });
    };
    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
      cancelTry?.();
      document.removeEventListener("visibilitychange", whenVisible);
    };
  }, [key, every, round]);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => setRound((before) => before + 1),
  };
}
