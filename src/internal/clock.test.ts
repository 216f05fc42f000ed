import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClock, slewTowards } from "./clock.ts";

const DAY = 24 * 60 * 60 * 1000;

const exactly = (time: number) => ({ earliest: time, latest: time });

describe("createClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("returns the time in whole milliseconds", () => {
    vi.useRealTimers();
    const now = createClock().now();
    expect(Number.isInteger(now)).toBe(true);
    // Within a minute of the system clock, which is not set during the test.
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  });

  test("ignores changes of the system clock", () => {
    const clock = createClock();
    const before = clock.now();
    vi.setSystemTime(Date.now() + DAY);
    expect(clock.now() - before).toBeLessThan(DAY);
    vi.advanceTimersByTime(1000);
    expect(clock.now()).toBe(before + 1000);
  });

  test("calls back once, at the time, never synchronously", () => {
    const clock = createClock();
    const calls: string[] = [];
    clock.setTimer(clock.now() + 50, () => calls.push("later"));
    clock.setTimer(clock.now() - 50, () => calls.push("past"));
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(["past"]);
    vi.advanceTimersByTime(48);
    expect(calls).toEqual(["past"]);
    vi.advanceTimersByTime(5000);
    expect(calls).toEqual(["past", "later"]);
  });

  test("a canceled timer does not fire; canceling late or twice has no effect", () => {
    const clock = createClock();
    const calls: number[] = [];
    const timer = clock.setTimer(clock.now() + 10, () => calls.push(1));
    const done = clock.setTimer(clock.now() + 10, () => calls.push(2));
    timer.cancel();
    timer.cancel();
    vi.advanceTimersByTime(20);
    done.cancel();
    clock.adjust(clock.now() + DAY);
    vi.advanceTimersByTime(20);
    expect(calls).toEqual([2]);
  });

  test("waits longer than setTimeout can", () => {
    const clock = createClock();
    const calls: number[] = [];
    const due = clock.now() + 60 * DAY;
    const system = vi.spyOn(globalThis, "setTimeout");
    clock.setTimer(due, () => calls.push(clock.now()));
    // Node turns a longer delay into 1 ms.
    expect(system.mock.calls[0]?.[1]).toBeLessThanOrEqual(2 ** 31 - 1);
    vi.advanceTimersByTime(60 * DAY - 1000);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(calls).toEqual([due]);
  });

  test("Infinity never fires, not even after an adjustment, and NaN is refused", () => {
    const clock = createClock();
    const calls: number[] = [];
    clock.setTimer(Number.POSITIVE_INFINITY, () => calls.push(1)).cancel();
    clock.setTimer(Number.POSITIVE_INFINITY, () => calls.push(2));
    clock.adjust(clock.now() + DAY);
    vi.advanceTimersByTime(100 * DAY);
    expect(calls).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(() => clock.setTimer(Number.NaN, () => {})).toThrow(TypeError);
    expect(() => clock.adjust(Number.NaN)).toThrow(TypeError);
  });

  test("adjusted forwards, it fires timers that became due", () => {
    const clock = createClock();
    const calls: string[] = [];
    const start = clock.now();
    clock.setTimer(start + DAY, () => calls.push("a day"));
    clock.setTimer(start + 2 * DAY, () => calls.push("two days"));
    clock.adjust(start + DAY + 5);
    expect(clock.now()).toBe(start + DAY + 5);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(["a day"]);
    vi.advanceTimersByTime(DAY);
    expect(calls).toEqual(["a day", "two days"]);
  });

  test("adjusted backwards, it delays timers that are no longer due", () => {
    const clock = createClock();
    const calls: number[] = [];
    const start = clock.now();
    clock.setTimer(start + 100, () => calls.push(clock.now()));
    clock.adjust(start - 1000);
    vi.advanceTimersByTime(500);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(700);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toBeGreaterThanOrEqual(start + 100);
  });

  test("many small adjustments add up, and no timer fires early", () => {
    const clock = createClock();
    const calls: number[] = [];
    const due = clock.now() + 10_000;
    clock.setTimer(due, () => calls.push(clock.now()));
    for (let step = 0; step < 100; step += 1) {
      clock.adjust(clock.now() + 90);
      vi.advanceTimersByTime(1);
    }
    vi.advanceTimersByTime(1000);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toBeGreaterThanOrEqual(due);
    expect(calls[0]).toBeLessThan(due + 100);
  });

  test("slewed towards another clock, it corrects drift and hardly follows a jump", () => {
    const clock = createClock();
    const start = clock.now();
    vi.advanceTimersByTime(10_000);
    slewTowards(clock, exactly(start + 10_060), 10_000);
    expect(clock.now()).toBe(start + 10_060);
    vi.advanceTimersByTime(10_000);
    slewTowards(clock, exactly(start + 20_000), 10_000);
    expect(clock.now()).toBe(start + 20_000);
    for (const jump of [DAY, -DAY]) {
      const before = clock.now();
      slewTowards(clock, exactly(before + jump), 10_000);
      expect(clock.now()).toBe(before + Math.sign(jump) * 100);
    }
  });

  test("slewed towards another clock whose answer was slow, it moves only as far as the answer proves", () => {
    const clock = createClock();
    const start = clock.now();
    slewTowards(clock, { earliest: start - 40, latest: start + 40 }, 10_000);
    expect(clock.now()).toBe(start);
    slewTowards(clock, { earliest: start + 10, latest: start + 90 }, 10_000);
    expect(clock.now()).toBe(start + 10);
    slewTowards(clock, { earliest: start - 90, latest: start + 4 }, 10_000);
    expect(clock.now()).toBe(start + 4);
  });

  test("an unref timer does not keep the process alive", () => {
    vi.useRealTimers();
    const clock = createClock();
    const active = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = active();
    const quiet = clock.setTimer(clock.now() + DAY, () => {}, { unref: true });
    expect(active()).toBe(before);
    const loud = clock.setTimer(clock.now() + DAY, () => {});
    expect(active()).toBe(before + 1);
    quiet.cancel();
    loud.cancel();
  });
});
