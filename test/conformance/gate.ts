/** Lets a test decide when an agent continues. */
export interface Gate {
  open(): void;
  /** Resolves when the gate is open; rejects with the signal's reason if that aborts first. */
  passed(signal: AbortSignal): Promise<void>;
}

export function createGate(): Gate {
  const opened = Promise.withResolvers<void>();
  return {
    open: () => opened.resolve(),
    async passed(signal) {
      const left = Promise.withResolvers<never>();
      const leave = () => left.reject(signal.reason as Error);
      signal.throwIfAborted();
      signal.addEventListener("abort", leave, { once: true });
      try {
        await Promise.race([opened.promise, left.promise]);
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
  };
}
