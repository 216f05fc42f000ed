import { describe, expect, test } from "vitest";
import { NodeLease } from "./node-lease.ts";

describe("the lease of a node", () => {
  test("is fresh for half of its duration after a renewal was asked for", () => {
    const clock = { time: 1000, now: () => clock.time };
    const lease = new NodeLease(5000, clock);
    expect(lease.isFresh).toBe(false);
    lease.renewed(900);
    expect(lease.isFresh).toBe(true);
    clock.time = 3399;
    expect(lease.isFresh).toBe(true);
    clock.time = 3400;
    expect(lease.isFresh).toBe(false);
    expect(lease.age).toBe(2500);
  });

  test("was lost in between if it was not fresh before the last renewal", () => {
    const clock = { time: 0, now: () => clock.time };
    const lease = new NodeLease(5000, clock);
    lease.renewed(0);
    const { term } = lease;
    clock.time = 2000;
    lease.renewed(2000);
    expect(lease.isStillFresh(term)).toBe(true);
    clock.time = 4500;
    expect(lease.isStillFresh(term)).toBe(false);
    lease.renewed(4500);
    expect(lease.isFresh).toBe(true);
    expect(lease.isStillFresh(term)).toBe(false);
    expect(lease.isStillFresh(lease.term)).toBe(true);
  });

  test("lets those who wait for it proceed at the next renewal", async () => {
    const clock = { time: 0, now: () => clock.time };
    const lease = new NodeLease(5000, clock);
    let proceeded = 0;
    const waits = [lease.whenFresh(), lease.whenFresh()].map(async (wait) => {
      await wait;
      proceeded++;
    });
    expect(proceeded).toBe(0);
    lease.renewed(0);
    await Promise.all(waits);
    expect(proceeded).toBe(2);
    expect(lease.whenFresh()).toBeUndefined();
  });
});
