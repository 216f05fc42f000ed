import { describe, expect, it, vi } from "vitest";
import { ArtifactFold } from "../protocol/fold.ts";
import { readEvent, readTask } from "../protocol/serial.ts";
import { MAX_TASK_BYTES } from "./pending-events.ts";
import { TaskReplay } from "./task-replay.ts";
import { PushTrial } from "./test/push-trial.ts";

const HOOK = { url: "https://hooks.example/a" };
const MB = 1024 * 1024;

describe("A notification", () => {
  it("of the largest allowed event is delivered, even if many are pending", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const task = await trial.task("t", HOOK);
    // More than the memory budget of all deliveries.
    for (let count = 0; count < 12; count++) await task.chunk(String(count % 10).repeat(3 * MB));
    await task.end();
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    const lengths = trial.bodies().map((body) => `${body.slice(0, 7)} ${body.length}`);
    expect(lengths.slice(1, -2)).toEqual(Array.from({ length: 12 }, (_, count) => `chunk:${count % 10} ${3 * MB + 6}`));
  });

  it("about a task above the size limit carries the task without artifacts and history", async () => {
    await using trial = await PushTrial.open({ carries: "task", answer: () => 200 });
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    await task.chunk("x".repeat(MAX_TASK_BYTES / 2));
    await task.status("half");
    await trial.harness.until(() => trial.bodies().some((body) => body.startsWith("task@3:status")));
    expect(trial.bodies().at(-1)?.length).toBeGreaterThan(MAX_TASK_BYTES / 2);
    await task.chunk("y".repeat(MAX_TASK_BYTES / 2));
    await task.end();
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.bodies().at(-1)).toBe("task@6:status:completed:");
  });

  it("is the event itself if it is committed right after an empty read of the log", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const { store } = trial.harness;
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    const read = store.log.bind(store);
    let chunks = 0;
    // Each empty page is returned only after the next chunk is in the store.
    vi.spyOn(store, "log").mockImplementation(async (id, after, maxBytes) => {
      const page = await read(id, after, maxBytes);
      if (page.length === 0 && chunks < 5) await task.chunk(String(++chunks));
      return page;
    });
    await task.chunk("0");
    await trial.harness.until(() => chunks === 5);
    await task.end();
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    const expected = ["0", "1", "2", "3", "4", "5"].map((text) => `chunk:${text}`);
    expect(trial.bodies()).toEqual(["status:working", ...expected, "chunk:", "status:completed"]);
  });
});

describe("A task replayed up to a seq", () => {
  it("is the same if its chunks are too large to be kept between two calls", async () => {
    await using trial = await PushTrial.open();
    const { harness } = trial;
    const task = await trial.task("t");
    for (const word of ["a", "b", "c"]) await task.chunk(word.repeat(40_000));
    const replay = new TaskReplay(harness.shared, task.id);
    const log = await harness.shared.log(task.id, 0, MB);
    for (const entry of log) {
      replay.pass(entry);
      expect(await replay.at(entry.seq)).toEqual(await new TaskReplay(harness.shared, task.id).at(entry.seq));
    }
    expect(log).toHaveLength(4);
  });

  it("does not read its log from the beginning for every status", async () => {
    await using trial = await PushTrial.open({ carries: "task" });
    const { harness } = trial;
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    for (let count = 0; count < 20; count++) await task.status("more");
    const log = vi.spyOn(harness.store, "log");
    for (let count = 1; count <= 21; count++) (await trial.posted(count)).answer(200);
    await harness.until(() => trial.records.length === 21);
    expect(log.mock.calls.filter(([id, after]) => id === task.id && after === 0).length).toBeLessThan(3);
    expect(trial.bodies().at(-1)).toBe("task@21:status:working:");
  });

  it("has the artifacts, the status and the messages of that moment", async () => {
    await using trial = await PushTrial.open();
    const { harness } = trial;
    const task = await trial.task("t");
    for (const word of ["a", "b"]) {
      await task.chunk(word);
      await task.status(`after ${word}`);
    }
    const log = await harness.shared.log(task.id, 0, MB);
    const current = await harness.get(task.id);
    const replay = new TaskReplay(harness.shared, task.id);
    for (const last of log) {
      // Every other entry was passed in before.
      if (last.seq % 2 === 0) replay.pass(last);
      const fold = new ArtifactFold();
      const events = log.slice(0, last.seq).map(({ body }) => readEvent(body));
      for (const event of events) fold.add(event);
      const status = events.findLast((event) => event.kind === "status");
      const stored = await replay.at(last.seq);
      expect(stored).toEqual(await new TaskReplay(harness.shared, task.id).at(last.seq));
      const at = stored === undefined ? undefined : readTask(stored);
      expect(stored?.seq).toBe(last.seq);
      expect(at?.artifacts).toEqual(fold.artifacts());
      expect(at?.status).toEqual(status?.kind === "status" ? status.status : undefined);
    }
    const whole = await replay.at(log.length);
    expect(whole === undefined ? undefined : readTask(whole)).toEqual(current);
    expect((await replay.at(1))?.history).not.toContain("after a");
  });
});
