/** Aborts a call that is silent for too long. */
export interface CallTimer {
  readonly signal: AbortSignal;
  /** There was a sign of life. */
  restart(): void;
  /** Does not count while `work` is under way: the caller is being asked. */
  paused<T>(work: () => Promise<T>): Promise<T>;
  stop(): void;
}

export function createCallTimer(milliseconds: number): CallTimer {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let pauses = 0;
  const restart = (): void => {
    clearTimeout(timer);
    if (pauses === 0) timer = setTimeout(() => controller.abort(), milliseconds);
  };
  restart();
  return {
    signal: controller.signal,
    restart,
    async paused(work) {
      pauses += 1;
      clearTimeout(timer);
      try {
        return await work();
      } finally {
        pauses -= 1;
        restart();
      }
    },
    stop() {
      // No later restart starts it again.
      pauses = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}
