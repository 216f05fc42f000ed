import { describe, expect, it } from "vitest";
import { turns } from "../testing/engine-harness.ts";
import { Budget } from "./budget.ts";

describe("A budget", () => {
  it("gives shares in the order in which they were requested", async () => {
    const budget = new Budget(10);
    const got: string[] = [];
    const take = (name: string, amount: number) => void budget.take(amount).then(() => got.push(name));
    take("a", 8);
    take("b", 5);
    take("c", 1);
    await turns(1);
    // c would fit, but b asked first and must not starve.
    expect(got).toEqual(["a"]);
    expect(budget.tryTake(1)).toBe(false);
    budget.give(8);
    await turns(1);
    expect(got).toEqual(["a", "b", "c"]);
    expect(budget.tryTake(4)).toBe(true);
    expect(budget.tryTake(1)).toBe(false);
  });

  it("gives the whole budget to a request for more than the total", async () => {
    const budget = new Budget(10);
    await budget.take(1000);
    expect(budget.tryTake(1)).toBe(false);
    budget.give(1000);
    expect(budget.tryTake(10)).toBe(true);
  });
});
