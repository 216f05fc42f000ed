import { describe, expect, it } from "vitest";
import { turns } from "../testing/engine-harness.ts";
import { Budget } from "./budget.ts";

describe("A budget", () => {
  it("gives everybody a share in the order of asking", async () => {
    const budget = new Budget(10);
    const got: string[] = [];
    const take = (name: string, amount: number) => void budget.take(amount).then(() => got.push(name));
    take("a", 8);
    take("b", 5);
    take("c", 1);
    await turns(1);
    // There would be room for c, but b was first and must not wait for ever.
    expect(got).toEqual(["a"]);
    expect(budget.tryTake(1)).toBe(false);
    budget.give(8);
    await turns(1);
    expect(got).toEqual(["a", "b", "c"]);
    expect(budget.tryTake(4)).toBe(true);
    expect(budget.tryTake(1)).toBe(false);
  });

  it("gives all there is to who asks for more than that", async () => {
    const budget = new Budget(10);
    await budget.take(1000);
    expect(budget.tryTake(1)).toBe(false);
    budget.give(1000);
    expect(budget.tryTake(10)).toBe(true);
  });
});
