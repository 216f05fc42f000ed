import { describe, expect, it } from "vitest";
import type { Logger } from "../../internal/logger.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { StoreError } from "../../store/contract.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { createUnreliableStore, type UnreliableStore } from "../../testing/unreliable-store.ts";
import { StoreAvailability } from "./store-availability.ts";

const FULL = new StoreError("full", "no space");

function watch(): { clock: FakeClock; lines: string[]; availability: StoreAvailability } {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log =
    (level: string) =>
    (message: string, details?: object): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(Object(details).refused)}`);
  const logger: Logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  return { clock, lines, availability: new StoreAvailability(clock, logger) };
}

const DOWN = "error The store is unavailable; requests are refused";
const UP = "info The store is available again";

describe("refusals because the store is unavailable", () => {
  it("are counted; the first is logged, then one line per minute with the number since", async () => {
    const { clock, lines, availability } = watch();
    availability.refused(FULL, 1);
    for (let second = 1; second <= 125; second += 1) {
      await clock.advance(1000);
      availability.refused(FULL, 2);
    }
    expect(lines).toEqual([`${DOWN} 1`, `${DOWN} 120`, `${DOWN} 120`]);
    expect(availability.refusals).toBe(251);
    availability.works();
    availability.works();
    expect(lines.slice(3)).toEqual([`${UP} 10`]);
  });

  it("are logged at most once per minute even if the store fails and recovers repeatedly", async () => {
    const { clock, lines, availability } = watch();
    for (let second = 0; second < 61; second += 1) {
      availability.refused(FULL, 1);
      availability.works();
      await clock.advance(1000);
    }
    expect(lines).toEqual([`${DOWN} 1`, `${UP} 0`, `${DOWN} 60`, `${UP} 0`]);
  });

  it("are logged even if the clock was set back", () => {
    const { clock, lines, availability } = watch();
    availability.refused(FULL, 1);
    clock.adjust(clock.now() - 3_600_000);
    availability.refused(FULL, 1);
    expect(lines).toEqual([`${DOWN} 1`, `${DOWN} 1`]);
  });
});

describe("an engine whose store fails for longer than the retries", () => {
  async function open() {
    let store: UnreliableStore | undefined;
    const harness = await openHarness({
      agents: scripted(async () => "done"),
      wrapStore: (inner) => {
        store = createUnreliableStore(inner);
        return store;
      },
    });
    const fail = (failures: number, ...methods: readonly ("commit" | "get")[]): void =>
      store?.setFaults({ failures: Object.fromEntries(methods.map((method) => [method, failures])) });
    const lines = (): string[] =>
      harness.logs.filter(({ message }) => message.startsWith("The store is")).map(({ message }) => message);
    return { harness, fail, lines };
  }

  it("rejects sends, logs and counts them, and logs when the store is available again", async () => {
    const { harness, fail, lines } = await open();
    await using _closing = harness;
    fail(1, "commit");
    const sent = Promise.allSettled([harness.start("a"), harness.start("b")]);
    await harness.advance(12_000);
    expect(await sent).toMatchObject([{ reason: { code: "unavailable" } }, { reason: { code: "unavailable" } }]);
    expect(lines()).toEqual(["The store is unavailable; requests are refused"]);
    expect(harness.engine.counts().storeRefusals).toBeGreaterThanOrEqual(2);
    fail(0);
    await harness.send("c");
    expect(lines().slice(1)).toEqual(["The store is available again"]);
  });

  it("rejects a message to a task that could not be stored as `unavailable`, like the task itself", async () => {
    const { harness, fail } = await open();
    await using _closing = harness;
    fail(1, "commit");
    const first = await harness.begin("a");
    const both = Promise.allSettled([
      first.stored(),
      harness.start({ taskId: first.taskId, parts: [{ text: "more" }] }),
    ]);
    await harness.advance(12_000);
    expect(await both).toMatchObject([{ reason: { code: "unavailable" } }, { reason: { code: "unavailable" } }]);
  });

  it("rejects a read as `unavailable` after retrying it for as long as a commit", async () => {
    const { harness, fail } = await open();
    await using _closing = harness;
    const { id } = await harness.send("a");
    // From here on the task is only in the store.
    await turns(3);
    fail(1, "get");
    const reading = harness.find(id).then(
      () => "found",
      (error: unknown) => error,
    );
    await harness.advance(12_000);
    expect(await reading).toMatchObject({ code: "unavailable", retryAfter: 5, cause: { code: "busy" } });
    expect(harness.engine.counts().storeRefusals).toBe(1);
  });

  it("answers a read that fails only for a moment", async () => {
    const { harness, fail } = await open();
    await using _closing = harness;
    const { id } = await harness.send("a");
    // From here on the task is only in the store.
    await turns(3);
    fail(1, "get");
    const reading = harness.find(id);
    await harness.advance(1000);
    fail(0);
    await harness.advance(1000);
    expect((await reading)?.id).toBe(id);
    expect(harness.engine.counts().storeRefusals).toBe(0);
  });

  it("does not fail a task whose next turn could not be read, and runs it when the store is available", async () => {
    let store: UnreliableStore | undefined;
    let runs = 0;
    const harness = await openHarness({
      agents: scripted(async (task) => {
        runs += 1;
        if (runs === 1) {
          await task.flush();
          // Safe: the id of an existing task.
          await harness.start({ taskId: task.id as TaskId, parts: [{ text: "more" }] });
          store?.setFaults({ failures: { inbox: 1 } });
        }
        return task.text;
      }),
      wrapStore: (inner) => {
        store = createUnreliableStore(inner);
        return store;
      },
    });
    await using _closing = harness;
    const ticket = await harness.start("first");
    await harness.advance(15_000);
    expect((await harness.get(ticket.taskId)).status.state).toBe("working");
    store?.setFaults({});
    await harness.advance(5000);
    expect((await harness.get(ticket.taskId)).status.state).toBe("completed");
    expect(harness.logs.filter(({ message }) => message === "A run failed")).toEqual([]);
  });
});
