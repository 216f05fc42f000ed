import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "palaver/testing";
import { createAgent } from "./create-agent.ts";

test("calls the tool that knows the arguments", async () => {
  await using town = await testAgent(await createAgent());
  const done = await town.send({ data: { place: "Lido" } });
  assert.equal(done.text, "Lido is open from 18:00 to 23:00.");
});

test("passes a question of the tool on, also after a crash", async () => {
  await using town = await testAgent(await createAgent());
  const asked = await town.send({ data: { restaurant: "Lido", time: "19:00" } });
  assert.equal(asked.question?.text, "For how many guests?");
  await town.crash();
  const done = await town.answer(asked, { data: { guests: 4 } });
  assert.equal(done.text, "Booked a table for 4 at Lido, 19:00.");
});
