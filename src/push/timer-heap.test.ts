import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { TimerHeap } from "./timer-heap.ts";

describe("A timer heap", () => {
  it("calls back for every value at its time with one system timer", async () => {
    const clock = new FakeClock(0);
    const called: [number, number][] = [];
    const timers = new TimerHeap<number>(clock, (value) => void called.push([value, clock.now()]));
    const times = Array.from({ length: 500 }, (_, index) => ((index * 7919) % 500) + 1);
    for (const at of times) timers.add(at, at);
    expect(clock.pending).toBe(1);
    await clock.advance(250);
    timers.add(-1, 100);
    timers.add(260, 260);
    await clock.advance(300);
    const expected = [...times.toSorted((a, b) => a - b).slice(0, 250), -1];
    expect(called.slice(0, 251).map(([value]) => value)).toEqual(expected);
    expect(called).toHaveLength(502);
    expect(called.every(([value, at]) => at >= value)).toBe(true);
    expect(called.filter(([value, at]) => value > 0 && at !== value)).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("is empty after clear(), and can be used again", async () => {
    const clock = new FakeClock(0);
    const called: string[] = [];
    const timers = new TimerHeap<string>(clock, (value) => void called.push(value));
    timers.add("a", 10);
    timers.clear();
    await clock.advance(20);
    timers.add("b", 30);
    await clock.advance(20);
    expect(called).toEqual(["b"]);
  });
});
