import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent, testCrashes } from "palaver/testing";
import greeter from "./agent.ts";

test("asks how to greet, and does it", async () => {
  await using agent = await testAgent(greeter);
  const asked = await agent.send("Ada");
  assert.equal(asked.question?.text, "Shall I greet Ada formally or warmly?");
  const done = await agent.answer(asked, "warmly");
  assert.equal(done.state, "completed");
  assert.equal(done.text, "Hello, dear Ada!");
});

test("survives a crash at any moment", async () => {
  await testCrashes(greeter, async (agent) => {
    const asked = await agent.send("Ada");
    await agent.answer(asked, "formally");
  });
});
