import { describe, expect, test } from "vitest";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { Ticket } from "../api.ts";

const asking = scripted(async (task) => {
  await task.ask("First?");
  await new Promise<never>(() => {});
});

const CALLER = { signal: new AbortController().signal };

/** Sends an answer with a non-blocking send. */
async function answer(ticket: Ticket): Promise<void> {
  await ticket.stored();
  await ticket.consumed(CALLER);
}

describe("a non-blocking send of an answer", () => {
  test("returns after the run read the answer, even if a parked run must be started again", async () => {
    await using harness = await openHarness({ agents: asking, parkAfter: 1000 });
    const { id } = await harness.send("go");
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    await answer(await harness.begin({ taskId: id, parts: [{ text: "1" }] }));
    expect((await harness.get(id)).status.state).toBe("working");
  });

  test("returns after a run on another node read the answer", async () => {
    await using first = await openHarness({ agents: asking });
    const second = await first.join();
    const { id } = await first.send("go");
    const ticket = await second.begin({ taskId: id, parts: [{ text: "1" }] });
    const done = answer(ticket);
    await first.pumped(done);
    expect((await second.get(id)).status.state).toBe("working");
  });

  test("that is repeated idempotently returns, both times, after the run read the answer", async () => {
    await using harness = await openHarness({ agents: asking, parkAfter: 1000 });
    const { id } = await harness.send("go");
    await harness.advance(3000);
    const answerMessage = { taskId: id, messageId: "m" as never, parts: [{ text: "1" }] };
    for (let send = 0; send < 2; send++) {
      await answer(await harness.begin(answerMessage, { idempotencyWindow: 60_000 }));
      expect((await harness.get(id)).status.state).toBe("working");
    }
  });

  describe("while the agent has no free slot", () => {
    /** A parked task with an open question, and a running task. */
    async function queued(harness: EngineHarness): Promise<Ticket> {
      const { id } = await harness.send("ask");
      await harness.advance(3000);
      await harness.start("work");
      return harness.begin({ taskId: id, parts: [{ text: "1" }] });
    }

    const single = scripted(
      async (task) => void (await (task.text === "ask" ? task.ask("First?") : new Promise<never>(() => {}))),
      { concurrency: 1 },
    );

    test("returns after 1 second, and the answer stays in the inbox", async () => {
      await using harness = await openHarness({ agents: single, parkAfter: 1000 });
      const ticket = await queued(harness);
      let isBack = false;
      const back = answer(ticket).then(() => (isBack = true));
      await turns(20);
      await harness.advance(999);
      expect(isBack).toBe(false);
      await harness.advance(1);
      await back;
      expect((await harness.get(ticket.taskId)).status.state).toBe("input-required");
      expect(await harness.shared.inbox(ticket.key)).toHaveLength(1);
    });

    test("stops waiting when the caller disconnects", async () => {
      await using harness = await openHarness({ agents: single, parkAfter: 1000 });
      const ticket = await queued(harness);
      const gone = new AbortController();
      const waiting = ticket.consumed({ signal: gone.signal });
      await turns(20);
      gone.abort();
      await expect(waiting).rejects.toThrow(/abort/i);
    });
  });
});
