import { describe, expect, it } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

function limiter(requests: number, seconds: number, maxCallers?: number) {
  const time = { now: 0 };
  const limit = { requests, seconds };
  const rate = new RateLimiter({ limit, now: () => time.now, ...(maxCallers !== undefined && { maxCallers }) });
  return { time, take: (caller = "a") => rate.take(caller) };
}

describe("A rate limiter", () => {
  it("allows exactly the limit out of ten thousand requests at ten times the limit", () => {
    for (const [requests, seconds] of [
      [100, 60],
      [7, 3],
      [1000, 1],
      [333, 10],
    ] as const) {
      const { time, take } = limiter(requests, seconds);
      let passed = 0;
      for (let index = 0; index < 10_000; index++) {
        time.now = Math.floor((index * seconds * 1000) / (requests * 10));
        if (take().allowed) passed += 1;
      }
      // The initial tokens, and those returned until the last request.
      const refilled = Math.floor((time.now * requests) / (seconds * 1000));
      expect(passed).toBe(Math.min(10_000, requests + refilled));
    }
  });

  it("reports the remaining requests, the time of reset and the time to retry", () => {
    const { time, take } = limiter(3, 60);
    expect(take()).toMatchObject({ allowed: true, remaining: 2, resetMs: 20_000, retryMs: 0 });
    take();
    expect(take()).toMatchObject({ allowed: true, remaining: 0, resetMs: 60_000, retryMs: 20_000 });
    expect(take()).toMatchObject({ allowed: false, remaining: 0, resetMs: 60_000, retryMs: 20_000 });
    time.now = 19_999;
    expect(take()).toMatchObject({ allowed: false, retryMs: 1 });
    time.now = 20_000;
    expect(take()).toMatchObject({ allowed: true, remaining: 0 });
    time.now = 1_000_000;
    expect(take()).toMatchObject({ allowed: true, remaining: 2 });
  });

  it("counts every caller separately", () => {
    const { take } = limiter(1, 1);
    expect([take("a"), take("b"), take("a"), take("b")].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("returns no tokens when the clock goes back", () => {
    const { time, take } = limiter(1, 1);
    time.now = 5000;
    expect(take().allowed).toBe(true);
    time.now = 0;
    expect(take().allowed).toBe(false);
    time.now = 999;
    expect(take().allowed).toBe(false);
    time.now = 1000;
    expect(take().allowed).toBe(true);
  });

  it("remembers a bounded number of callers, the most recent ones", () => {
    const { take } = limiter(1, 1, 2);
    take("a");
    take("b");
    take("a");
    take("c");
    expect(take("a").allowed).toBe(false);
    expect(take("b").allowed).toBe(true);
  });

  it.each([
    [0, 1],
    [1, 0],
    [1.5, 1],
    [Number.NaN, 1],
    [1, Number.POSITIVE_INFINITY],
    [2_000_000, 1],
  ])("refuses %d requests in %d seconds as a limit", (requests, seconds) => {
    expect(() => limiter(requests, seconds)).toThrow(TypeError);
  });
});
