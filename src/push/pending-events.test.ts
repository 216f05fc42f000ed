import { describe, expect, it } from "vitest";
import { ArtifactFold } from "../protocol/fold.ts";
import { readEvent, readTask } from "../protocol/serial.ts";
import { MAX_TASK_BYTES } from "./pending-events.ts";
import { taskAt } from "./task-at.ts";
import { PushTrial } from "./test/push-trial.ts";

const HOOK = { url: "https://hooks.example/a" };
const MB = 1024 * 1024;

describe("What is told", () => {
  it("may be as large as an event can be, however many wait", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const task = await trial.task("t", HOOK);
    // More than all together may hold in memory at a time.
    for (let count = 0; count < 12; count++) await task.chunk(String(count % 10).repeat(3 * MB));
    await task.end();
    await trial.harness.until(() => trial.push.counts().held === 0);
    const lengths = trial.said().map((body) => `${body.slice(0, 7)} ${body.length}`);
    expect(lengths.slice(1, -1)).toEqual(Array.from({ length: 12 }, (_, count) => `chunk:${count % 10} ${3 * MB + 6}`));
  });

  it("is a large task without its contents", async () => {
    await using trial = await PushTrial.open({ carries: "task", answer: () => 200 });
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    await task.chunk("x".repeat(MAX_TASK_BYTES / 2));
    await task.status("half");
    await trial.harness.until(() => trial.said().some((body) => body.startsWith("task@3:status")));
    expect(trial.said().at(-1)?.length).toBeGreaterThan(MAX_TASK_BYTES / 2);
    await task.chunk("y".repeat(MAX_TASK_BYTES / 2));
    await task.end();
    await trial.harness.until(() => trial.push.counts().held === 0);
    expect(trial.said().at(-1)).toBe("task@5:status:completed:");
  });
});

describe("A task at one of its seqs", () => {
  it("is what its log adds up to until then, with the messages there were", async () => {
    await using trial = await PushTrial.open();
    const { harness } = trial;
    const task = await trial.task("t");
    for (const word of ["a", "b"]) {
      await task.chunk(word);
      await task.status(`after ${word}`);
    }
    const log = await harness.shared.log(task.id, 0, MB);
    const current = await harness.get(task.id);
    for (const last of log) {
      const fold = new ArtifactFold();
      const events = log.slice(0, last.seq).map(({ body }) => readEvent(body));
      for (const event of events) fold.add(event);
      const status = events.findLast((event) => event.kind === "status");
      const stored = await taskAt(harness.shared, task.id, last.seq);
      const at = stored === undefined ? undefined : readTask(stored);
      expect(stored?.seq).toBe(last.seq);
      expect(at?.artifacts).toEqual(fold.artifacts());
      expect(at?.status).toEqual(status?.kind === "status" ? status.status : undefined);
    }
    const whole = await taskAt(harness.shared, task.id, log.length);
    expect(whole === undefined ? undefined : readTask(whole)).toEqual(current);
    expect((await taskAt(harness.shared, task.id, 1))?.history).not.toContain("after a");
  });
});
