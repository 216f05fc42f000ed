import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo } from "../../src/demo/echo.ts";
import { createServer } from "../../src/platform/create-server.ts";
import { Terminal } from "../cli/terminal.ts";
import { IS_FULL } from "../fixtures/budget.ts";
import { type Answer, ask, collect, eventsOf, type Frame, idsUpTo, must, open, sendParams, type Task } from "./rpc.ts";
import { type Ended, fixture, type Serving, until, Workbench } from "./workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const NOW = { configuration: { returnImmediately: true } };
const MB = 1024 * 1024;
const STACK = /^\s+at |node:internal|\.ts:\d+/m;

/** Starts a server whose commits can be made to fail. */
const serve = (setup: object = {}) =>
  bench.serveScript("server.ts", { env: { SETUP: JSON.stringify({ modules: [fixture("ten-events.ts")], ...setup }) } });

const openGates = (name: string, upTo = 10) => {
  for (let event = 2; event <= upTo; event++) bench.openGate(`${name}-${event}`);
};

/** An error response never contains a stack trace or internal details. */
const expectCivil = ({ body }: Answer<unknown>) => expect(body).not.toMatch(STACK);

describe("a commit that fails with a disk error", () => {
  // With `io-lost` the commit was not stored, with `io-kept` it was. The server cannot know which, so it confirms
  // neither.
  it.each(["io-lost", "io-kept", "death"])(
    "(%s) stops the server and loses nothing that was acknowledged",
    async (fault) => {
      const server = await serve();
      openGates("read", 4);
      const stream = await open(server.url, { method: "SendStreamingMessage", params: sendParams("read") });
      const before: Frame[] = [];
      for (let count = 0; count <= 4; count++) {
        const { value, done } = await stream.frames.next();
        if (done !== true) before.push(value);
      }
      await server.ask({ kind: "faults", faults: [fault] });
      const unanswered = ask(server.url, "SendMessage", sendParams("doubtful", NOW)).catch((error: unknown) => error);
      const { code, stderr } = await server.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/restart/i);
      // The connection breaks: the server cannot answer correctly.
      expect(await unanswered).toBeInstanceOf(Error);

      const again = await serve();
      openGates("read");
      const id = before[0]?.result.task?.id;
      const after = await collect(again.url, { method: "SubscribeToTask", params: { id }, after: before.at(-1)?.id });
      const events = eventsOf([...before, ...after]);
      expect(events.map((event) => event.id)).toEqual(idsUpTo(10));
      const replayed = await collect(again.url, { method: "SubscribeToTask", params: { id }, after: 0 });
      expect(eventsOf(replayed)).toEqual(events);
      const { totalSize } = await must<{ totalSize: number }>(again.url, "ListTasks", {});
      expect(totalSize).toBe(fault === "io-kept" ? 2 : 1);
    },
  );

  it("is retried while the database is busy, without an error for the caller", async () => {
    const server = await serve();
    openGates("patient");
    await server.ask({ kind: "faults", faults: ["busy", "full", "busy"] });
    const frames = await collect(server.url, { method: "SendStreamingMessage", params: sendParams("patient") });
    expect(eventsOf(frames).map(({ id }) => id)).toEqual(idsUpTo(10));
  });
});

describe("a full disk", () => {
  it("makes the server refuse new tasks with 503 UNAVAILABLE, keep stored tasks, and accept tasks again when space is free", async (context) => {
    const disk = bench.path("disk");
    if (!mountSmallDisk(disk)) context.skip("this process may not mount a file system");
    try {
      const args = [fixture("firehose.ts"), "--store", "sqlite:disk/tasks.db"];
      const server = await bench.serve(args);
      bench.openGate("small");
      const kept = await must<{ task: Task }>(server.url, "SendMessage", sendParams("small 0.05"));
      expect(kept.task.status.state).toBe("TASK_STATE_COMPLETED");
      writeFileSync(`${disk}/ballast`, Buffer.alloc(13 * MB));

      // More bytes than the disk has space for.
      const stream = await open(server.url, { method: "SendStreamingMessage", params: sendParams("big 3") });
      const frames: Frame[] = [];
      const reading = (async () => {
        for await (const frame of stream.frames) frames.push(frame);
      })();
      bench.openGate("big");
      let refusal: Answer<unknown> | undefined;
      await until(async () => {
        refusal = await ask(server.url, "SendMessage", sendParams("small 0.05"));
        return refusal.error !== undefined;
      });
      expect(refusal).toMatchObject({ status: 503, error: { data: [{ reason: "UNAVAILABLE" }] } });
      if (refusal !== undefined) expectCivil(refusal);
      expect(Number(refusal?.retryAfter)).toBeGreaterThan(0);
      expect(server.stderr()).toContain("The store is unavailable; requests are refused");
      // Stored tasks can still be read.
      expect(await must<Task>(server.url, "GetTask", { id: kept.task.id })).toEqual(kept.task);

      // Leaves no free byte, instead of just too few for the message.
      fill(`${disk}/more-ballast`);
      await until(async () => (await fetch(`${server.url}/readyz`)).status === 503);

      rmSync(`${disk}/more-ballast`);
      rmSync(`${disk}/ballast`);
      const { task } = await must<{ task: Task }>(server.url, "SendMessage", sendParams("small 0.05"));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
      expect(server.stderr()).toContain("The store is available again");
      // The aborted run is started again, and its reader has missed nothing.
      await reading;
      const events = eventsOf(frames);
      expect(events.map(({ id }) => id)).toEqual(idsUpTo(events.length));
      expect(events.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
      await server.kill("SIGKILL");

      const again = await bench.serve(args);
      expect(await must<Task>(again.url, "GetTask", { id: kept.task.id })).toEqual(kept.task);
      const id = frames[0]?.result.task?.id;
      const replayed = await collect(again.url, { method: "SubscribeToTask", params: { id }, after: 0 });
      expect(eventsOf(replayed)).toEqual(events);
      const { artifacts } = await must<Task>(again.url, "GetTask", { id });
      const length = artifacts?.flatMap(({ parts }) => parts).reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
      expect(length).toBe(3 * MB);
    } finally {
      await bench.stop();
      execFileSync("umount", [disk]);
    }
  }, 60_000);
});

describe("a database that another process has locked", () => {
  it("delays requests until the lock is released", async () => {
    const server = await serve();
    const other = new DatabaseSync(bench.path("tasks.db"));
    other.exec("BEGIN IMMEDIATE");
    openGates("held-up");
    const waiting = ask<{ task: Task }>(server.url, "SendMessage", sendParams("held-up"));
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, "still waiting"))]);
    expect(early).toBe("still waiting");
    other.exec("COMMIT");
    other.close();
    expect((await waiting).result?.task.status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("the error of a server that cannot start", () => {
  const store = () => `sqlite:${bench.path("tasks.db")}`;
  const checked = ({ code, stdout, stderr }: Pick<Ended, "stdout" | "stderr" | "code">): string => {
    expect(stderr).not.toMatch(STACK);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    return stderr;
  };
  /** The refusal of a server in this process, and in a full run in a process of its own. */
  const refusal = async (): Promise<string> => {
    const args = ["serve", "--demo", "--port", "0", "--store", store()];
    if (IS_FULL) return checked(await bench.run(args));
    const terminal = new Terminal();
    terminal.open();
    try {
      return checked(await terminal.run(args));
    } finally {
      terminal.close();
    }
  };
  /** Runs a server on the store in this process. */
  const withServer = async (work: (url: string) => Promise<void>): Promise<void> => {
    const server = createServer(echo, { store: store(), port: 0 });
    try {
      await work((await server.listen()).url);
    } finally {
      await server.close();
    }
  };
  const writeTask = (): Promise<void> =>
    withServer(async (url) => {
      await must(url, "SendMessage", sendParams("Hello"));
    });

  it("names the process that uses the database, and leaves the database unchanged", async () => {
    const owner: Serving = await bench.serve(["--demo", "--store", "sqlite:tasks.db"]);
    await must(owner.url, "SendMessage", sendParams("Hello"));
    const ended = await bench.run(["serve", "--demo", "--port", "0", "--store", "sqlite:tasks.db"]);
    expect(checked(ended)).toMatch(new RegExp(`in use by process ${owner.pid}.*(stop|choose)`, "is"));
    expect(await must(owner.url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
  });

  it("says that the database is damaged, and what to do", async () => {
    await writeTask();
    truncateSync(bench.path("tasks.db"), 5000);
    expect(await refusal()).toMatch(/damaged.*(backup|another file)/is);
  });

  it("says that a later version wrote the database, and leaves it unchanged", async () => {
    await writeTask();
    const database = new DatabaseSync(bench.path("tasks.db"));
    const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
    database.exec("PRAGMA user_version = 77");
    database.close();
    expect(await refusal()).toMatch(/schema 77.*upgrade/is);
    const untouched = new DatabaseSync(bench.path("tasks.db"));
    untouched.exec(`PRAGMA user_version = ${Number(version)}`);
    untouched.close();
    await withServer(async (url) => {
      expect(await must(url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
    });
  });

  it("says that the database is locked", async () => {
    await writeTask();
    const other = new DatabaseSync(bench.path("tasks.db"));
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    expect(await refusal()).toMatch(/locked by another program.*close/is);
    other.close();
  });
});

describe("an agent that throws", () => {
  it("fails its task without exposing the error to the caller", async () => {
    writeFileSync(
      bench.path("agent.mjs"),
      `export default { id: "thrower", name: "Thrower", description: "Throws.", version: "1.0.0",
         async run() { throw new Error("password is hunter2"); } };`,
    );
    const server = await bench.serve([bench.path("agent.mjs"), "--store", "sqlite:tasks.db"]);
    const answer = await ask<{ task: Task }>(server.url, "SendMessage", sendParams("go"));
    expect(answer.result?.task.status.state).toBe("TASK_STATE_FAILED");
    expectCivil(answer);
    expect(answer.body).not.toContain("hunter2");
    // The operator finds the error in the log.
    await until(() => server.stderr().includes("hunter2"));
  });
});

/** Mounts a file system of 16 MB; returns false if this process may not mount. */
/** Writes to the file until the disk is full. */
function fill(file: string): void {
  try {
    for (;;) appendFileSync(file, Buffer.alloc(4096));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

function mountSmallDisk(path: string): boolean {
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
