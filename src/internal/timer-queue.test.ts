import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type QueuedTimer, TimerQueue } from "./timer-queue.ts";

describe("timers that share one system timer", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("fire in the order of their times, then in the order in which they were set; canceled ones do not", () => {
    const plan = fc.array(fc.record({ at: fc.integer({ min: 0, max: 20 }), cancels: fc.option(fc.nat(30)) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(plan, (steps) => {
        const began = performance.now();
        const queue = new TimerQueue({ now: () => performance.now() - began, unref: true });
        const fired: number[] = [];
        const timers: QueuedTimer[] = [];
        const expected = new Map<number, number>();
        for (const [index, { at, cancels }] of steps.entries()) {
          timers.push(queue.add(at, () => fired.push(index)));
          expected.set(index, at);
          if (cancels === null || cancels > index) continue;
          timers[cancels]?.cancel();
          expected.delete(cancels);
        }
        vi.advanceTimersByTime(30);
        const order = [...expected].sort(([one, first], [other, second]) => first - second || one - other);
        expect(fired).toEqual(order.map(([index]) => index));
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });

  test("one that throws does not keep the others from firing", () => {
    const queue = new TimerQueue({ now: () => performance.now(), unref: true });
    const fired: string[] = [];
    const at = performance.now() + 5;
    queue.add(at, () => {
      throw new Error("first");
    });
    queue.add(at, () => fired.push("second"));
    expect(() => vi.advanceTimersByTime(5)).toThrow("first");
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(["second"]);
  });

  test("one that sets another for a past time does not run without an end", () => {
    const queue = new TimerQueue({ now: () => performance.now(), unref: true });
    let count = 0;
    const again = (): void => {
      count += 1;
      queue.add(0, again);
    };
    queue.add(0, again);
    vi.advanceTimersByTime(3);
    expect(count).toBeLessThanOrEqual(4);
    expect(count).toBeGreaterThan(1);
  });
});
