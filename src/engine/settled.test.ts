import { describe, expect, test } from "vitest";
import { openHarness, scripted, turns } from "../testing/engine-harness.ts";

const twice = scripted(async (task) => {
  await task.ask("First?");
  await task.ask("Second?", { sensitive: task.text === "sensitive" });
  await task.ask("Third?");
});

describe("a waiting send", () => {
  test("is answered by the question that follows its message, not by the one before it", async () => {
    await using harness = await openHarness({ agents: twice });
    const first = await harness.send("go");
    expect(first.status.message?.parts[0]?.text).toBe("First?");
    const second = await harness.send({ taskId: first.id, parts: [{ text: "1" }] });
    expect(second.status.message?.parts[0]?.text).toBe("Second?");
  });

  test("that begins to wait when the question is long there is answered, even with the run parked and its feed gone", async () => {
    for (const text of ["go", "sensitive"]) {
      await using harness = await openHarness({ agents: twice, parkAfter: 1000 });
      const { id } = await harness.send(text);
      const toFirst = await harness.start({ taskId: id, parts: [{ text: "1" }] });
      await harness.untilState(id, "input-required");
      await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Second?");
      const toSecond = await harness.start({ taskId: id, parts: [{ text: "2" }] });
      await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Third?");
      await harness.advance(3000);
      expect(harness.engine.counts().live).toBe(0);
      await harness.settled(toFirst);
      await harness.settled(toSecond);
    }
  });

  test("is not answered while its message is unread, whatever is asked meanwhile", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await new Promise<void>((resolve) => (ask = resolve));
        // The message is in the inbox by now; it arrived before the question and does not answer it.
        await task.ask("Question?");
      }),
    });
    let ask: (() => void) | undefined;
    const { taskId } = await harness.start("go");
    const ticket = await harness.start({ taskId, parts: [{ text: "unread" }] });
    let isSettled = false;
    const settled = harness.settled(ticket).then(() => (isSettled = true));
    ask?.();
    await harness.untilState(taskId, "input-required");
    await turns(20);
    expect(isSettled).toBe(false);
    // The end of the task answers everybody.
    await harness.engine.cancel(harness.scope(), taskId);
    await settled;
  });

  test("of a finished task is answered at once, from the store too", async () => {
    await using harness = await openHarness({ agents: scripted(async () => "done") });
    const ticket = await harness.start("go");
    await harness.settled(ticket);
    await turns(5);
    await harness.settled(ticket);
    const later = await harness.crash();
    await later.settled(ticket);
  });
});
