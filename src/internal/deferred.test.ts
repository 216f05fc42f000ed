import { describe, expect, test } from "vitest";
import { createDeferred } from "./deferred.ts";

/** Runs `work` and returns the unhandled rejections that it caused. */
async function unhandledDuring(work: () => void): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason) => reasons.push(reason));
  try {
    work();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of others) process.on("unhandledRejection", listener);
  }
  return reasons;
}

describe("createDeferred", () => {
  test("settles once, from outside", async () => {
    const deferred = createDeferred<number>();
    deferred.resolve(1);
    deferred.resolve(2);
    deferred.reject(new Error("late"));
    expect(await deferred.promise).toBe(1);
  });

  test("rejects its awaiters, handled or not", async () => {
    const deferred = createDeferred<number>({ handled: true });
    deferred.reject(new Error("no"));
    await expect(deferred.promise).rejects.toThrow("no");
  });

  test("a handled rejection without awaiters is not reported; another one is", async () => {
    expect(await unhandledDuring(() => createDeferred({ handled: true }).reject("quiet"))).toEqual([]);
    expect(await unhandledDuring(() => createDeferred().reject("loud"))).toEqual(["loud"]);
  });
});
