import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDeferred } from "../internal/deferred.ts";
import { StoreError } from "../store/contract.ts";
import { openHarness, scripted } from "../testing/engine-harness.ts";
import { StoreProbe } from "./store-probe.ts";

let now = 10_000;
beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("the store is probed at most once a second", async () => {
  let probes = 0;
  let successes = 0;
  const health = async (): Promise<void> => {
    probes += 1;
  };
  const probe = new StoreProbe({ health }, () => {
    successes += 1;
  });
  await Promise.all(Array.from({ length: 50 }, () => probe.check()));
  now += 999;
  await probe.check();
  expect(probes).toBe(1);
  now += 1;
  await probe.check();
  expect([probes, successes]).toEqual([2, 2]);
});

test("within a second check() returns the failure of the last probe, after it that of a new probe", async () => {
  const failures: (StoreError | undefined)[] = [new StoreError("full", "no space"), undefined];
  const health = async (): Promise<void> => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const probe = new StoreProbe({ health }, () => {});
  await expect(probe.check()).rejects.toMatchObject({ code: "full" });
  await expect(probe.check()).rejects.toMatchObject({ code: "full" });
  now += 1000;
  await probe.check();
  expect(failures).toEqual([]);
});

test("an unanswered probe is not repeated, and counts as failed after 5 seconds", async () => {
  const answers = [createDeferred<void>()];
  let probes = 0;
  const probe = new StoreProbe(
    {
      health: () => {
        probes += 1;
        return answers.shift()?.promise ?? Promise.resolve();
      },
    },
    () => {},
  );
  const [answer] = answers;
  const first = probe.check();
  now += 5001;
  await expect(probe.check()).rejects.toMatchObject({ code: "unavailable" });
  expect(probes).toBe(1);
  answer?.resolve();
  await first;
  await probe.check();
  expect(probes).toBe(2);
});

test("an engine is ready only while its store accepts writes, and a successful probe ends an outage", async () => {
  vi.restoreAllMocks();
  await using harness = await openHarness({ agents: scripted(async () => "done") });
  const { shared, engine, store } = harness;
  let failure: StoreError | undefined = new StoreError("full", "no space");
  shared.health = () => (failure === undefined ? Promise.resolve() : Promise.reject(failure));
  await expect(engine.ready()).rejects.toMatchObject({ code: "full" });
  store.failAlways(failure);
  const sent = harness.start("a").catch((error: unknown) => error);
  await harness.advance(12_000);
  expect(await sent).toMatchObject({ code: "unavailable" });
  failure = undefined;
  const later = performance.now() + 1000;
  vi.spyOn(performance, "now").mockImplementation(() => later);
  await engine.ready();
  vi.restoreAllMocks();
  const lines = harness.logs.map(({ message }) => message).filter((message) => message.startsWith("The store is"));
  expect(lines).toEqual(["The store is unavailable; requests are refused", "The store is available again"]);
});
