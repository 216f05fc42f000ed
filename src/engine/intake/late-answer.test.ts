import { describe, expect, test } from "vitest";
import type { MessageId, TaskId } from "../../protocol/ids.ts";
import { type EngineHarness, type MessageInput, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { Ticket } from "../api.ts";

const IDEMPOTENT = { idempotencyWindow: 60_000 };

const asking = scripted(async (task) => {
  const first = await task.ask("First?");
  const second = await task.ask("Second?");
  return `${first}, ${second}`;
});

/**
 * Two answers to the first question. The second one is accepted while the first one's commit is under way, so it reaches the run when
 * that has asked its second question, but before callers can see it.
 */
async function answerTwice(harness: EngineHarness): Promise<{ readonly id: TaskId; readonly late: MessageInput }> {
  const { id } = await harness.send("go");
  harness.store.hold();
  const first = harness.start({ taskId: id, parts: [{ text: "one" }] });
  await harness.until(() => harness.store.held === 1);
  harness.store.release();
  // From here on commits wait again: the next one is that in which the run consumes the answer.
  harness.store.hold();
  await first;
  await harness.until(() => harness.store.held === 1);
  const late: MessageInput = { messageId: "late" as MessageId, taskId: id, parts: [{ text: "one again" }] };
  const sent = harness.start(late, IDEMPOTENT);
  await turns(10);
  harness.store.release();
  await sent;
  await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Second?");
  return { id, late };
}

/** Whether a blocking send returns without a change of the task and before any time limit. */
async function isSettledSoon(harness: EngineHarness, ticket: Ticket): Promise<boolean> {
  let isSettled = false;
  void harness.settled(ticket).then(() => (isSettled = true));
  await turns(50);
  return isSettled;
}

describe("an answer that is accepted before the next question is visible", () => {
  test("and is sent again returns with the next question, which it does not answer", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id, late } = await answerTwice(harness);
    const ticket = await harness.start(late, IDEMPOTENT);
    expect(await isSettledSoon(harness, ticket)).toBe(true);
    expect((await harness.get(id)).status.message?.parts[0]?.text).toBe("Second?");
  });

  test("does not answer the next question after a restart either", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id, late } = await answerTwice(harness);
    const other = await harness.crash();
    await other.advance(3000);
    const ticket = await other.start(late, IDEMPOTENT);
    expect(await isSettledSoon(other, ticket)).toBe(true);
    expect((await other.get(id)).status.message?.parts[0]?.text).toBe("Second?");
  });
});
