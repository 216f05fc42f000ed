import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import type { Task } from "../../protocol/task.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { startTimeOf } from "./children/process-table.ts";
import { artifactText, type OpenProgram, openProgram, openScript, statusText } from "./test/open-program.ts";

/** Bytes of this process's memory may grow by this much while a program writes far more. */
const MEMORY = 150 * 2 ** 20;

const NODE = process.execPath;

async function withinMemory(work: () => Promise<void>): Promise<void> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  expect(most - before).toBeLessThan(MEMORY);
}

const codeOf = (task: Task): string => JSON.stringify(task.status.message?.parts.at(-1)?.data ?? null);

async function expectNothingLeft(program: OpenProgram): Promise<void> {
  expect(await program.running()).toEqual([]);
  expect(program.records()).toEqual([]);
}

/** Cancels a task as soon as the program has written `ready`. */
async function cancelWhenReady(program: OpenProgram): Promise<Task> {
  const { harness } = program;
  const { taskId } = await harness.start("go");
  await harness.until(async () => artifactText(await harness.get(taskId))?.includes("ready") === true, "ready");
  await harness.engine.cancel(harness.scope(), taskId);
  await harness.until(() => program.records().length === 0, "the program to end");
  return harness.get(taskId);
}

describe("a program", () => {
  test.each(["text", "jsonl"] as const)(
    "that prints a line of 1 GB (%s) is ended, with bounded memory",
    async (protocol) => {
      // The program is ended long before; if it were not, the line would have this size.
      const print =
        "const piece = 'x'.repeat(2 ** 20); let n = 1024; (function more() { if (n-- > 0) process.stdout.write(piece, more); })()";
      await using program = await openProgram(NODE, ["-e", print], { protocol });
      await withinMemory(async () => {
        const task = await program.harness.send("go");
        expect([task.status.state, codeOf(task)]).toEqual([
          "failed",
          protocol === "text" ? '{"code":"process-output-too-large"}' : '{"code":"process-line-too-long"}',
        ]);
      });
      await expectNothingLeft(program);
    },
  );

  test("that writes endless errors fills neither the log nor the memory", async () => {
    await using program = await openScript("yes 'an error' | head -c 100000000 >&2; echo done");
    await withinMemory(async () => {
      const task = await program.harness.send("go");
      expect([task.status.state, artifactText(task)]).toEqual(["completed", "done"]);
    });
    expect(program.harness.logs.length).toBeLessThan(1100);
    expect(program.harness.logs).toContainEqual(
      expect.objectContaining({ message: "Further lines of standard error are dropped" }),
    );
  });

  test("that never reads its input can end", async () => {
    await using program = await openScript("echo done");
    const task = await program.harness.send("x".repeat(900_000));
    expect([task.status.state, artifactText(task)]).toEqual(["completed", "done"]);
    await expectNothingLeft(program);
  });

  test("that closes its output and keeps running is ended when the task is canceled", async () => {
    await using program = await openScript("echo ready; exec 1>&- 2>&-; sleep 60");
    expect((await cancelWhenReady(program)).status.state).toBe("canceled");
    await expectNothingLeft(program);
  });

  test("that leaves children behind has none left when it ends", async () => {
    await using program = await openScript(
      "sleep 61 & setsid sleep 62 & (setsid nohup sleep 63 &) ; echo $!; echo done",
    );
    const task = await program.harness.send("go");
    expect([task.status.state, artifactText(task)?.endsWith("done")]).toEqual(["completed", true]);
    await expectNothingLeft(program);
  });

  test("that ignores SIGTERM is killed after the grace period, with its children", async () => {
    await using program = await openScript(
      "trap '' TERM; sleep 61 & echo $! > child; echo ready; while true; do sleep 0.1; done",
    );
    const task = await cancelWhenReady(program);
    expect(task.status.state).toBe("canceled");
    expect(startTimeOf(Number(readFileSync(program.file("child"), "utf8")))).toBeUndefined();
    await expectNothingLeft(program);
  });

  test("that handles SIGTERM may clean up", async () => {
    await using program = await openScript(
      "trap 'echo cleaned > cleaned; exit 0' TERM; echo ready; while true; do sleep 0.02; done",
      {
        grace: 10_000,
      },
    );
    expect((await cancelWhenReady(program)).status.state).toBe("canceled");
    expect(readFileSync(program.file("cleaned"), "utf8")).toBe("cleaned\n");
  });

  test("that writes invalid UTF-8 has it replaced (text), or fails (jsonl)", async () => {
    const script = 'printf \'{"text":"a\\xff"}\\n\'';
    await using text = await openScript(script);
    expect(artifactText(await text.harness.send("go"))).toBe('{"text":"a\uFFFD"}');
    await using lines = await openScript(script, { protocol: "jsonl" });
    const task = await lines.harness.send("go");
    expect([task.status.state, statusText(task)]).toEqual(["failed", "Line 1 of the program is not valid UTF-8."]);
  });

  test("that was removed after the agent was declared fails the task", async () => {
    await using folder = await temporaryFolder();
    copyFileSync("/bin/true", folder.file("agent"));
    await using program = await openProgram(folder.file("agent"), []);
    rmSync(folder.file("agent"));
    const task = await program.harness.send("go");
    expect([task.status.state, codeOf(task)]).toEqual(["failed", '{"code":"process-not-started"}']);
    await expectNothingLeft(program);
  });

  test("that exceeds its processor time or its memory is ended", async () => {
    await using busy = await openScript("while true; do :; done", { cpuSeconds: 1 });
    const ended = await busy.harness.send("go");
    expect([ended.status.state, codeOf(ended)]).toEqual([
      "failed",
      expect.stringMatching(/"process-killed","signal":"SIG(XCPU|KILL)"/),
    ]);
    await using large = await openScript("set -o pipefail; head -c 400000000 /dev/zero | tail -c 300000000 | wc -c", {
      memory: 100 * 2 ** 20,
    });
    expect((await large.harness.send("go")).status.state).toBe("failed");
    await using modest = await openScript("echo fine", { memory: 100 * 2 ** 20, cpuSeconds: 5 });
    expect(artifactText(await modest.harness.send("go"))).toBe("fine");
  });

  test("leaves no open descriptors in the server, however it ends", async () => {
    await using program = await openScript(
      'read -r how; case "$how" in fail) exit 3;; crash) kill -9 $$;; fork) setsid sleep 60 & ;; *) cat;; esac',
    );
    const open = (): number => readdirSync("/proc/self/fd").length;
    const ways = ["read", "fail", "crash", "fork"];
    for (const way of ways) await program.harness.send(way);
    const before = open();
    for (let round = 0; round < sampled(5, 250); round += 1)
      await Promise.all(ways.map((way) => program.harness.send(way)));
    await expect.poll(open).toBeLessThanOrEqual(before);
    await expectNothingLeft(program);
  });
});
