import { describe, expect, test } from "vitest";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { Ticket } from "../api.ts";

const asking = scripted(async (task) => {
  await task.ask("First?");
});

const SCOPE = { agent: "scripted", tenant: "", owner: "ada" };

interface Waiting {
  readonly done: Promise<void>;
  readonly isDone: () => boolean;
}

/** Waits for a change of the task after its present last event. */
async function waitFrom(harness: EngineHarness, ticket: Ticket, signal?: AbortSignal): Promise<Waiting> {
  const record = await harness.shared.get(ticket.key, { artifacts: false });
  if (record === undefined) throw new Error("The task is not stored.");
  let isDone = false;
  const caller = { signal: signal ?? new AbortController().signal };
  const done = harness.engine.changed(record.scope, ticket.taskId, { after: record.seq, caller }).finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  return { done, isDone: () => isDone };
}

async function asked(harness: EngineHarness): Promise<Ticket> {
  const ticket = await harness.start("go");
  await harness.pumped(ticket.settled({ signal: new AbortController().signal }));
  return ticket;
}

describe("a wait for a change of a task", () => {
  test("ends with the next event, also of a task on another node", async () => {
    await using first = await openHarness({ agents: asking });
    const second = await first.join();
    const ticket = await asked(first);
    const waits = [await waitFrom(first, ticket), await waitFrom(second, ticket)];
    await turns(5);
    expect(waits.map(({ isDone }) => isDone())).toEqual([false, false]);
    await first.begin({ taskId: ticket.taskId, parts: [{ text: "1" }] });
    await first.pumped(Promise.all(waits.map(({ done }) => done)));
  });

  test("ends after limits.maxPollWait, and not before", async () => {
    await using harness = await openHarness({ agents: asking, limits: { maxPollWait: 2000 } });
    const { done, isDone } = await waitFrom(harness, await asked(harness));
    await harness.advance(1500);
    expect(isDone()).toBe(false);
    await harness.advance(1000);
    await done;
  });

  test("ends when the caller leaves, and then holds nothing", async () => {
    await using harness = await openHarness({ agents: asking, parkAfter: 100 });
    const ticket = await asked(harness);
    await harness.advance(3000);
    const leaving = new AbortController();
    const waits = await Promise.all(Array.from({ length: 20 }, () => waitFrom(harness, ticket, leaving.signal)));
    await turns(5);
    const timers = harness.clock.pending;
    leaving.abort(new Error("gone"));
    for (const { done } of waits) await expect(done).rejects.toThrow("gone");
    expect(timers - harness.clock.pending).toBe(20);
  });

  test("ends when the server shuts down", async () => {
    await using harness = await openHarness({ agents: asking });
    const { done } = await waitFrom(harness, await asked(harness));
    await harness.pumped(harness.engine.drain(0));
    await done;
  });

  test("ends at once for an ended task and for one that does not exist", async () => {
    await using harness = await openHarness({ agents: scripted(async () => {}) });
    const ticket = await harness.start("go");
    await harness.pumped(ticket.settled({ signal: new AbortController().signal }));
    await (await waitFrom(harness, ticket)).done;
    const wait = { after: 99, caller: { signal: new AbortController().signal } };
    await harness.engine.changed(SCOPE, "unknown" as never, wait);
  });

  test("ends after the commit of the event, however slow the store is", async () => {
    await using harness = await openHarness({ agents: asking });
    const ticket = await asked(harness);
    const { done, isDone } = await waitFrom(harness, ticket);
    harness.store.hold();
    const answer = harness.begin({ taskId: ticket.taskId, parts: [{ text: "1" }] });
    await turns(20);
    expect(isDone()).toBe(false);
    harness.store.release();
    await harness.pumped(Promise.all([answer, done]));
  });
});
