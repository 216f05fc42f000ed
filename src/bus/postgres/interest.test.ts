import { expect, test } from "vitest";
import { taskId } from "../../testing/store-operations.ts";
import type { Hint } from "../contract.ts";
import { Interest } from "./interest.ts";

const [T, U] = [taskId(1), taskId(2)];
const log = (seq: number, task = T): Hint => ({ kind: "log", task, seq });
const due: Hint = { kind: "due" };

test("needs the log hints of tasks that are watched here or elsewhere, and all other hints", () => {
  const interest = new Interest(() => 0);
  expect(interest.needed([log(1), due])).toEqual([due]);
  interest.add(T);
  interest.announced([U]);
  expect(interest.needed([log(2), log(3, U), log(4, taskId(3))])).toEqual([log(2), log(3, U)]);
  interest.remove(T);
  expect(interest.needed([log(5)])).toEqual([]);
});

test("a task is announced when its first watcher comes, and watched until its last one leaves", () => {
  const interest = new Interest(() => 0);
  expect([interest.add(T), interest.add(T)]).toEqual([true, false]);
  interest.remove(T);
  expect([...interest.watched]).toEqual([T]);
  interest.remove(T);
  expect([...interest.watched]).toEqual([]);
});

test("returns the last hint of an announced task once, unless the other node has polled the store since", () => {
  let now = 0;
  const interest = new Interest(() => now);
  interest.needed([log(1), log(2), log(1, U)]);
  expect(interest.announced([T])).toEqual([log(2)]);
  expect(interest.announced([T])).toEqual([]);
  now = 2000;
  expect(interest.announced([U])).toEqual([]);
});

test("an announcement lasts for a minute", () => {
  let now = 0;
  const interest = new Interest(() => now);
  interest.announced([T]);
  now = 59_999;
  interest.prune();
  expect(interest.needed([log(1)])).toEqual([log(1)]);
  now = 60_000;
  expect(interest.needed([log(2)])).toEqual([]);
  interest.prune();
  expect(interest.needed([log(3)])).toEqual([]);
});
