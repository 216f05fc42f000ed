import { describe, expect, test } from "vitest";
import { CALLS } from "../../src/protocol/calls/ancestry.ts";
import { callRelationsOf } from "../../src/protocol/calls/call-tree.ts";
import { agent, textOfTask, World } from "./world.ts";

const upper = agent("upper", async (task) => task.text.toUpperCase());

describe("a call of an agent of the same server", () => {
  test("returns its result; the child refers to the parent, and the parent shows the child", async () => {
    let referenced: readonly string[] | undefined;
    const child = agent("child", async (task) => {
      referenced = task.message.referenceTaskIds;
      return `got ${task.text}`;
    });
    const parent = agent("parent", async (task) => {
      const { text, taskId, state } = await task.call("child", "x");
      return `${text} ${state} ${taskId === undefined}`;
    });
    await using world = new World([parent, child]);
    const task = await world.run("parent", "go");
    expect(textOfTask(task)).toBe("got x completed false");
    expect(referenced).toEqual([task.id]);
    const relations = callRelationsOf(task.metadata);
    expect(relations?.children).toEqual([
      { call: "call:child#1", agent: "child", state: "completed", taskId: expect.any(String) },
    ]);
    const found = await (await world.client("child")).task(relations?.children?.[0]?.taskId ?? "").get();
    expect(callRelationsOf(found.metadata)).toEqual({ root: task.id, parent: task.id, depth: 1 });
    const { card } = await world.client("child");
    expect(card.capabilities.extensions?.map(({ uri }) => uri)).toContain(CALLS);
  });

  test("streams its events", async () => {
    const child = agent("child", async function* (task) {
      await task.status("thinking");
      yield "a";
      yield "b";
    });
    const parent = agent("parent", async function* (task) {
      const call = task.call("child", "x");
      for await (const event of call) {
        if (event.kind === "artifact") yield event.text;
        if (event.kind === "status" && event.text !== "") yield `[${event.text}]`;
      }
      yield ` ${(await call).text}`;
    });
    await using world = new World([parent, child]);
    expect(textOfTask(await world.run("parent", "go"))).toBe("[thinking]ab ab");
  });

  test("may be one of several at a time", async () => {
    const parent = agent("parent", async (task) => {
      const results = await Promise.all(["a", "b", "c"].map((text) => task.call(upper, text)));
      return results.map(({ text }) => text).join("");
    });
    await using world = new World([parent, upper]);
    expect(textOfTask(await world.run("parent", "go"))).toBe("ABC");
  });

  test("rejects with the reason if the child fails, is rejected or does not exist", async () => {
    const failing = agent("failing", async () => {
      throw new Error("secret");
    });
    const rejecting = agent("rejecting", async (task) => task.reject("not today"));
    const parent = agent("parent", async (task) => {
      const codes: unknown[] = [];
      for (const id of ["failing", "rejecting", "missing"])
        await task
          .call(id, "x")
          .catch((error: { code: string; message: string }) => codes.push([error.code, error.message]));
      return JSON.stringify(codes);
    });
    await using world = new World([parent, failing, rejecting]);
    const codes = JSON.parse(textOfTask(await world.run("parent", "go"))) as [string, string][];
    expect(codes.map(([code]) => code)).toEqual(["call-failed", "call-rejected", "call-unknown-agent"]);
    expect(codes[1]?.[1]).toContain("not today");
    expect(codes[0]?.[1]).not.toContain("secret");
  });
});
