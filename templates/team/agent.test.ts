import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent, testCrashes } from "palaver/testing";
import agents from "./agent.ts";

test("asks two agents about a city", async () => {
  await using desk = await testAgent(agents);
  const done = await desk.send("Rome");
  assert.equal(done.text, "Weather in Rome: 24 °C and sunny.\n\nEvents in Rome: an open-air concert.");
});

test("passes the question of a member on, and its answer back", async () => {
  await using desk = await testAgent(agents);
  const asked = await desk.send("book Rome");
  assert.equal(asked.question?.text, "How many nights in Rome?");
  const done = await desk.answer(asked, "3");
  assert.equal(done.text, "Booked 3 nights in Rome.");
});

test("survives a crash at any moment", async () => {
  await testCrashes(agents, async (desk) => {
    const asked = await desk.send("book Rome");
    await desk.answer(asked, "3");
  });
});
