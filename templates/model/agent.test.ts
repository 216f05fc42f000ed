import assert from "node:assert/strict";
import { test } from "node:test";
import { modelReplies, testAgent, testCrashes } from "palaver/testing";
import { createAssistant } from "./agent.ts";

test("answers, and remembers the conversation", async () => {
  const model = modelReplies(["Nice to meet you, Ada.", "You are Ada."]);
  await using agent = await testAgent(createAssistant(model));
  const first = await agent.send("I am Ada");
  assert.equal(first.text, "Nice to meet you, Ada.");
  const second = await agent.send("Who am I?", { contextId: first.contextId });
  assert.equal(second.text, "You are Ada.");
  // The second call has the first message and its answer.
  assert.deepEqual(
    model.calls.at(-1)?.prompt.map(({ role }) => role),
    ["system", "user", "assistant", "user"],
  );
});

test("survives a crash at any moment", async () => {
  await testCrashes(
    () => createAssistant(modelReplies(["Hello."])),
    (agent) => agent.send("Hi"),
  );
});
