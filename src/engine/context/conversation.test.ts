import { afterEach, describe, expect, test } from "vitest";
import type { ContextId } from "../../protocol/ids.ts";
import { type EngineHarness, type HarnessOptions, openHarness, scripted } from "../../testing/engine-harness.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import type { ConversationMessage } from "../agent/agent.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

const CONTEXT = "chat" as ContextId;

/** Answers with the conversation so far, in short. */
const remembering = scripted(async (task) => {
  await task.status("Remembering");
  return short(await task.conversation());
});

function short(messages: readonly ConversationMessage[]): string {
  return messages
    .map(
      ({ role, parts }) =>
        `${role[0]}:${parts.map(({ text, raw, data }) => text ?? raw ?? JSON.stringify(data)).join("")}`,
    )
    .join(" ");
}

const say = (text: string, owner = "ann") => harness.send({ contextId: CONTEXT, parts: [{ text }] }, { owner });

async function result(text: string, owner?: string): Promise<string | undefined> {
  return (await say(text, owner)).artifacts?.[0]?.parts[0]?.text;
}

async function expectOwnTasks(openStore?: HarnessOptions["openStore"]): Promise<void> {
  harness = await openHarness({ agents: remembering, ...(openStore !== undefined && { openStore }) });
  expect(await result("one")).toBe("");
  await harness.advance(10);
  await harness.send({ contextId: "other" as ContextId, parts: [{ text: "elsewhere" }] }, { owner: "ann" });
  await say("of bob", "bob");
  await harness.advance(10);
  expect(await result("two")).toBe("u:one a:");
  await harness.advance(10);
  expect(await result("three")).toBe("u:one a: u:two a:u:one a:");
}

describe("task.conversation()", () => {
  test("has the ended tasks of the same caller and context, oldest first (memory)", () => expectOwnTasks());

  test("has the ended tasks of the same caller and context, oldest first (SQLite)", async () => {
    await using trial = await sqliteTrial();
    await expectOwnTasks((setup) => trial.open(setup));
    await harness[Symbol.asyncDispose]();
  });

  test("has questions and answers, failures and the names of files, but no progress messages", async () => {
    let seen: readonly ConversationMessage[] = [];
    const agents = scripted(async (task) => {
      if (task.text === "ask") return `Thanks, ${await task.ask("Who?")}`;
      if (task.text === "refuse") task.reject("Not today.");
      if (task.text === "file")
        return { file: { name: "a.png", mediaType: "image/png", bytes: new Uint8Array([1, 2, 3]) } };
      await task.status("Looking back");
      seen = await task.conversation();
      return short(await task.conversation({ limit: 2, files: "inline" }));
    });
    harness = await openHarness({ agents });
    const asked = await say("ask");
    await harness.send({ taskId: asked.id, parts: [{ text: "Ann" }] }, { owner: "ann" });
    await harness.advance(10);
    await say("refuse");
    await harness.advance(10);
    await say("file");
    await harness.advance(10);
    expect(await result("look")).toBe("u:file a:AQID");
    expect(short(seen)).toBe(
      "u:ask a:Who? u:Ann a:Thanks, Ann u:refuse a:Not today. u:file a:[File: a.png (image/png)]",
    );
    expect(seen[0]?.taskId).toBe(asked.id);
  });

  test("has earlier turns of the same task, without the message of this turn", async () => {
    const seen: string[] = [];
    const agents = scripted(async (task) => {
      seen.push(short(await task.conversation()));
      await task.write(`${task.text}!`);
      if (seen.length === 1) await new Promise<void>((resolve) => void setTimeout(resolve, 50));
    });
    harness = await openHarness({ agents });
    const { taskId } = await harness.start("first");
    await harness.send({ taskId, parts: [{ text: "second" }] });
    await harness.untilState(taskId, "completed");
    expect(seen).toEqual(["", "u:first a:first!"]);
  });

  test("is the same in a replay, also if another task of the context has ended meanwhile", async () => {
    const agents = scripted(async (task) => {
      if (task.text !== "slow") return "done";
      const before = short(await task.conversation());
      await task.write(`${before} | `);
      await task.flush();
      if (task.attempt === 1) await new Promise<never>(() => {});
      return "end";
    });
    harness = await openHarness({ agents });
    await say("one");
    const { taskId } = await harness.start({ contextId: CONTEXT, parts: [{ text: "slow" }] }, { owner: "ann" });
    await harness.until(async () => JSON.stringify(await harness.log(taskId)).includes(" | "));
    await say("meanwhile");
    harness = await harness.crash();
    await harness.untilState(taskId, "completed", { owner: "ann" });
    expect((await harness.story(taskId)).filter((line) => line.startsWith("result"))).toEqual([
      "result=u:one a:done | ",
      "result+=end!",
    ]);
  });

  test("leaves out the results of a task with more than 256 KB", async () => {
    const agents = scripted(async (task) =>
      task.text === "large" ? "x".repeat(300_000) : short(await task.conversation()),
    );
    harness = await openHarness({ agents });
    await say("large");
    expect(await result("look")).toBe("u:large a:[This part of the conversation is too large and is left out.]");
  });

  test("refuses an invalid limit", async () => {
    const agents = scripted((task) => task.conversation({ limit: 0 }).then(() => "", String));
    harness = await openHarness({ agents });
    expect(await result("look")).toBe("TypeError: conversation(): limit must be a whole number from 1 to 1000.");
  });
});
