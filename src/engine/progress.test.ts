import { afterEach, expect, test } from "vitest";
import { type EngineHarness, openHarness, scripted } from "../testing/engine-harness.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

test("an engine whose store does not answer is not alive after two minutes, and alive again when it does", async () => {
  harness = await openHarness({ agents: scripted(async () => "done") });
  const { shared, engine, clock } = harness;
  const claimDue = shared.claimDue.bind(shared);
  const held = Promise.withResolvers<void>();
  shared.claimDue = async (query) => {
    await held.promise;
    return claimDue(query);
  };
  await harness.advance(119_000, 10_000);
  expect(() => engine.alive()).not.toThrow();
  clock.adjust(clock.now() + 10_000);
  expect(() => engine.alive()).toThrow(/polled its store/);
  held.resolve();
  await harness.advance(2000);
  expect(() => engine.alive()).not.toThrow();
});

test("an engine whose store refuses every call is alive: a restart would not help", async () => {
  harness = await openHarness({ agents: scripted(async () => "done") });
  const { shared, engine } = harness;
  const claimDue = shared.claimDue.bind(shared);
  shared.claimDue = () => Promise.reject(new Error("down"));
  await harness.advance(180_000, 5000);
  expect(() => engine.alive()).not.toThrow();
  shared.claimDue = claimDue;
});
