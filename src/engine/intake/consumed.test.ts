import { describe, expect, test } from "vitest";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { Ticket } from "../api.ts";

const asking = scripted(async (task) => {
  await task.ask("First?");
  await new Promise<never>(() => {});
});

const CALLER = { signal: new AbortController().signal };

/** Sends an answer as a send that does not wait. */
async function answer(harness: EngineHarness, ticket: Ticket): Promise<void> {
  await harness.engine.accepted(ticket);
  await harness.engine.consumed(ticket, CALLER);
}

describe("an answer that its sender does not wait for", () => {
  test("is read before the send returns, also by a run that has to be started again", async () => {
    await using harness = await openHarness({ agents: asking, parkAfter: 1000 });
    const { id } = await harness.send("go");
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    await answer(harness, await harness.begin({ taskId: id, parts: [{ text: "1" }] }));
    expect((await harness.get(id)).status.state).toBe("working");
  });

  test("is read before the send returns, also by a run on another node", async () => {
    await using first = await openHarness({ agents: asking });
    const second = await first.join();
    const { id } = await first.send("go");
    const ticket = await second.begin({ taskId: id, parts: [{ text: "1" }] });
    const done = answer(second, ticket);
    await first.pumped(done);
    expect((await second.get(id)).status.state).toBe("working");
  });

  test("that is sent twice and counts once is read before either send returns", async () => {
    await using harness = await openHarness({ agents: asking, parkAfter: 1000 });
    const { id } = await harness.send("go");
    await harness.advance(3000);
    const said = { taskId: id, messageId: "m" as never, parts: [{ text: "1" }] };
    for (let send = 0; send < 2; send++) {
      await answer(harness, await harness.begin(said, { idempotencyWindow: 60_000 }));
      expect((await harness.get(id)).status.state).toBe("working");
    }
  });

  describe("while the only slot of the agent is taken", () => {
    /** A parked task that asks something, and another one at work. */
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

    test("is waited for one second, and stays in the inbox", async () => {
      await using harness = await openHarness({ agents: single, parkAfter: 1000 });
      const ticket = await queued(harness);
      let isBack = false;
      const back = answer(harness, ticket).then(() => (isBack = true));
      await turns(20);
      await harness.advance(999);
      expect(isBack).toBe(false);
      await harness.advance(1);
      await back;
      expect((await harness.get(ticket.taskId)).status.state).toBe("input-required");
      expect(await harness.shared.inbox(ticket.key)).toHaveLength(1);
    });

    test("is no longer waited for when its caller is gone", async () => {
      await using harness = await openHarness({ agents: single, parkAfter: 1000 });
      const ticket = await queued(harness);
      const gone = new AbortController();
      const waiting = harness.engine.consumed(ticket, { signal: gone.signal });
      await turns(20);
      gone.abort();
      await expect(waiting).rejects.toThrow(/abort/i);
    });
  });
});
