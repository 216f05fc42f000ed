import { describe, expect, test } from "vitest";
import { FakeClock } from "./fake-clock.ts";

describe("FakeClock", () => {
  test("moves only on advance, and stops at the end of the span", async () => {
    const clock = new FakeClock(1000);
    await clock.advance(0);
    expect(clock.now()).toBe(1000);
    await clock.advance(250);
    expect(clock.now()).toBe(1250);
  });

  test("fires timers in order of time, equal times in the order they were set, each at its own time", async () => {
    const clock = new FakeClock(0);
    const calls: string[] = [];
    const note = (name: string) => () => void calls.push(`${name}@${clock.now()}`);
    clock.setTimer(30, note("c"));
    clock.setTimer(10, note("a"));
    clock.setTimer(30, note("d"));
    clock.setTimer(20, note("b")).cancel();
    clock.setTimer(40, note("e"));
    await clock.advance(35);
    expect(calls).toEqual(["a@10", "c@30", "d@30"]);
    expect(clock.pending).toBe(1);
  });

  test("fires timers that are set during the span within the same span", async () => {
    const clock = new FakeClock(0);
    const ticks: number[] = [];
    const tick = async () => {
      for (let count = 0; count < 3; count += 1) {
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + 10, resolve);
        });
        ticks.push(clock.now());
      }
    };
    const ticking = tick();
    await clock.advance(100);
    await ticking;
    expect(ticks).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(100);
  });

  test("fires a timer for a past time on the next advance, and a timer for Infinity never", async () => {
    const clock = new FakeClock(100);
    const calls: string[] = [];
    clock.setTimer(50, () => calls.push("past"));
    clock.setTimer(Number.POSITIVE_INFINITY, () => calls.push("never"));
    expect(calls).toEqual([]);
    await clock.advance(0);
    expect(calls).toEqual(["past"]);
    expect(clock.now()).toBe(100);
    expect(clock.pending).toBe(0);
  });
});
