const RealDate = Date;
let offset = 0;

/**
 * Moves the system clock of this process by that many milliseconds, forwards or backwards, as an administrator or a time service does. The
 * monotonic clock (`performance.now`, timers) goes on: no operating system moves it.
 */
export function jumpClock(by: number): void {
  offset += by;
  globalThis.Date = class extends RealDate {
    constructor(...args: readonly unknown[]) {
      // Safe cast: all ways to call the constructor are passed on.
      super(...((args.length === 0 ? [RealDate.now() + offset] : args) as [number]));
    }

    static override now(): number {
      return RealDate.now() + offset;
    }
  } as DateConstructor; // Safe cast: it lacks only the call without `new`, which nothing uses.
}
