import { concat, from, NEVER } from "rxjs";
import { afterEach, describe, expect, test } from "vitest";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import { agent } from "./agent.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

async function run(...values: readonly unknown[]) {
  const agents = agent({ name: "A", description: "A.", version: "1", run: () => from(values) });
  harness = await openHarness({ agents });
  return harness.send("go");
}

const status = (state: string, more: object = {}) => ({ type: "status-update", state, ...more });
const chunk = (text: string, more: object = {}) => ({
  type: "artifact-chunk",
  artifactId: "report",
  chunk: text,
  ...more,
});

describe("events that an Observable emits", () => {
  test("write artifacts and statuses, beside plain output; the completion completes the task", async () => {
    const task = await run(
      status("working"),
      status("working", { message: "Half way" }),
      chunk("Sales "),
      "note",
      chunk("went up", { append: true, lastChunk: true }),
    );
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toMatchObject([
      { artifactId: "report", name: "report", parts: [{ text: "Sales went up" }] },
      { name: "result", parts: [{ text: "note" }] },
    ]);
    const story = await harness.story(task.id);
    expect(story.filter((line) => line.startsWith("working"))).toEqual(["working", "working:Half way"]);
  });

  test("a chunk without `append` begins the artifact anew", async () => {
    const task = await run(chunk("old "), chunk("text", { append: true }), chunk("new", { lastChunk: true }));
    expect(task.artifacts).toMatchObject([{ parts: [{ text: "new" }] }]);
  });

  test.each([
    ["completed", {}],
    ["working", { final: true }],
  ] as const)("%s %o ends the run, and later values are not read", async (state, more) => {
    const values = concat(from([chunk("one"), status(state, more), chunk("two")]), NEVER);
    const agents = agent({ name: "A", description: "A.", version: "1", run: () => values });
    harness = await openHarness({ agents });
    const task = await harness.send("go");
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toMatchObject([{ parts: [{ text: "one" }] }]);
  });

  test.each([
    { state: "failed", more: { message: "No such table" }, text: "No such table" },
    { state: "canceled", more: {}, expected: "failed", text: "The agent ended the task as canceled." },
    { state: "rejected", more: { message: [{ text: "Not today" }] }, text: "Not today" },
    // The reason is in the log: it is an error of the agent.
    { state: "input-required", more: {}, expected: "failed", text: "The agent failed while working on this task." },
  ])("$state ends the task with the text $text", async ({ state, more, expected = state, text }) => {
    const task = await run(status(state, { final: true, ...more }));
    expect(task.status).toMatchObject({ state: expected, message: { parts: [{ text }] } });
  });

  test("from a generator they are output like every other object", async () => {
    const agents = agent({
      name: "A",
      description: "A.",
      version: "1",
      async *run() {
        yield status("failed");
      },
    });
    harness = await openHarness({ agents });
    expect((await harness.send("go")).artifacts).toMatchObject([{ parts: [{ data: status("failed") }] }]);
  });

  test("objects that only look similar are output", async () => {
    const task = await run({ type: "status-update" }, { type: "artifact-chunk", chunk: "x" });
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toMatchObject([
      { parts: [{ data: { type: "status-update" } }, { data: { type: "artifact-chunk", chunk: "x" } }] },
    ]);
  });
});
