import assert from "node:assert/strict";
import { test } from "node:test";
import { modelReplies, testAgent, testCrashes } from "palaver/testing";
import { createClerk } from "./agent.ts";

/** Payments that remember what was paid. */
function memory() {
  const paid = new Map<string, number>();
  return {
    paid,
    async refund(order: string, amount: number, key: string): Promise<string> {
      paid.set(key, amount);
      return `R-${order}`;
    },
  };
}

const refund = (amount: number) => [
  { calls: [{ name: "refund", input: { order: "A1", amount } }] },
  "The money is on its way.",
];

test("pays small amounts at once", async () => {
  const payments = memory();
  await using agent = await testAgent(createClerk(modelReplies(refund(20)), payments));
  const done = await agent.send("refund order A1, 20");
  assert.equal(done.text, "The money is on its way.");
  assert.deepEqual([...payments.paid.values()], [20]);
});

test("asks before it pays a large amount", async () => {
  const payments = memory();
  await using agent = await testAgent(createClerk(modelReplies(refund(80)), payments));
  const asked = await agent.send("refund order A1, 80");
  assert.equal(asked.state, "input-required");
  assert.equal(payments.paid.size, 0);
  const done = await agent.answer(asked, "yes");
  assert.equal(done.state, "completed");
  assert.deepEqual([...payments.paid.values()], [80]);
});

test("pays once, whenever the server crashes", async () => {
  const payments = memory();
  await testCrashes(
    () => {
      payments.paid.clear();
      return createClerk(modelReplies(refund(80)), payments);
    },
    async (agent) => {
      const asked = await agent.send("refund order A1, 80");
      await agent.answer(asked, "yes");
      assert.equal(payments.paid.size, 1);
    },
  );
});
