import { expect, test } from "vitest";
import { readJournal } from "../engine/record/journal.ts";
import { DeliveryJournal } from "./delivery-journal.ts";
import { PushTrial } from "./test/push-trial.ts";

function openJournal(): { readonly journal: DeliveryJournal; readonly time: { now: number } } {
  const time = { now: 100 };
  return { journal: new DeliveryJournal({ webhook: "w", node: "n", now: () => time.now }), time };
}

test("deliveries that succeed one after the other are one entry that grows", () => {
  const { journal, time } = openJournal();
  journal.began(1);
  time.now = 110;
  const first = journal.delivered(1);
  journal.began(2);
  time.now = 120;
  const second = journal.delivered(4);
  expect(second.key).toBe(first.key);
  expect(readJournal([second])).toEqual([
    { kind: "delivery", key: "w:1", node: "n", start: 100, end: 120, outcome: "delivered", upTo: 4, count: 2 },
  ]);
});

test("a failed delivery has an entry of its own with the number of attempts and the last reason", () => {
  const { journal, time } = openJournal();
  journal.began(1);
  const before = journal.delivered(1);
  journal.began(2);
  time.now = 150;
  journal.failed("retrying", "HTTP 503");
  journal.began(2);
  const last = journal.delivered(2);
  journal.began(3);
  const after = journal.delivered(3);
  expect(readJournal([before, last, after])).toMatchObject([
    { key: "w:1", count: 1, upTo: 1 },
    { key: "w:2", count: 2, upTo: 2, outcome: "delivered", reason: "HTTP 503", start: 100, end: 150 },
    { key: "w:3", count: 1, upTo: 3 },
  ]);
});

test("the journal of a task has the deliveries to its webhooks, stored with their progress", async () => {
  let answers = 0;
  await using trial = await PushTrial.open({
    settings: { retryDelay: 10 },
    answer: () => (++answers === 2 ? 503 : 200),
  });
  const task = await trial.task("t", { id: "hook", url: "https://hook.example/" });
  for (const text of ["a", "b"]) task.push({ kind: "chunk", text });
  task.push({ kind: "end" });
  await trial.harness.until(async () => {
    await trial.harness.advance(500);
    return (await trial.harness.shared.webhooks(task.id)).every(({ state }) => state === "idle");
  });
  const deliveries = readJournal(await trial.harness.shared.journal(task.id)).filter(({ kind }) => kind === "delivery");
  const { seq } = (await trial.harness.shared.positions([task.id]))[0] ?? { seq: 0 };
  expect(deliveries.at(-1)).toMatchObject({ outcome: "delivered", upTo: seq });
  expect(deliveries.some(({ reason, count }) => reason === "HTTP 503" && count === 2)).toBe(true);
  expect(deliveries.map(({ key }) => key).every((key) => key.startsWith("hook:"))).toBe(true);
});
