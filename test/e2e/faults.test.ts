import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, ask, collect, eventsOf, type Frame, idsUpTo, must, open, saying, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const NOW = { configuration: { returnImmediately: true } };
const MB = 1024 * 1024;
const STACK = /^\s+at |node:internal|\.ts:\d+/m;

/** A server whose commits can be made to fail. */
const serve = (setup: object = {}) =>
  bench.serveScript("server.ts", { env: { SETUP: JSON.stringify({ modules: [fixture("ten-events.ts")], ...setup }) } });

const openGates = (name: string, upTo = 10) => {
  for (let event = 2; event <= upTo; event++) bench.open(`${name}-${event}`);
};

/** What a caller learns, whatever it is, is an answer and no look inside. */
const expectCivil = ({ body }: Answer<unknown>) => expect(body).not.toMatch(STACK);

describe("a commit that fails in the disk", () => {
  // With `io-lost` it did not happen, with `io-kept` it did; nobody can tell which, so nobody is told that it did.
  it.each(["io-lost", "io-kept", "death"])("(%s) stops the server, and loses nothing that was told", async (fault) => {
    const server = await serve();
    openGates("told", 4);
    const stream = await open(server.url, { method: "SendStreamingMessage", params: saying("told") });
    const before: Frame[] = [];
    for (let count = 0; count <= 4; count++) {
      const { value, done } = await stream.frames.next();
      if (done !== true) before.push(value);
    }
    await server.ask({ kind: "faults", faults: [fault] });
    const unanswered = ask(server.url, "SendMessage", saying("doubtful", NOW)).catch((error: unknown) => error);
    const { code, stderr } = await server.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/restart/i);
    // The connection breaks: that is all an honest server can say.
    expect(await unanswered).toBeInstanceOf(Error);

    const again = await serve();
    openGates("told");
    const id = before[0]?.result.task?.id;
    const after = await collect(again.url, { method: "SubscribeToTask", params: { id }, after: before.at(-1)?.id });
    const events = eventsOf([...before, ...after]);
    expect(events.map((event) => event.id)).toEqual(idsUpTo(10));
    const replayed = await collect(again.url, { method: "SubscribeToTask", params: { id }, after: 0 });
    expect(eventsOf(replayed)).toEqual(events);
    const { totalSize } = await must<{ totalSize: number }>(again.url, "ListTasks", {});
    expect(totalSize).toBe(fault === "io-kept" ? 2 : 1);
  });

  it("is tried again while the database is busy, and nobody notices", async () => {
    const server = await serve();
    openGates("patient");
    await server.ask({ kind: "faults", faults: ["busy", "full", "busy"] });
    const frames = await collect(server.url, { method: "SendStreamingMessage", params: saying("patient") });
    expect(eventsOf(frames).map(({ id }) => id)).toEqual(idsUpTo(10));
  });
});

describe("a disk that is full", () => {
  it("refuses new work by name, keeps what was told, and takes work again when there is room", async (context) => {
    const disk = bench.path("disk");
    if (!mountSmallDisk(disk)) context.skip("mounting a small file system needs rights this process does not have");
    try {
      const args = [fixture("firehose.ts"), "--store", "sqlite:disk/tasks.db"];
      const server = await bench.serve(args);
      bench.open("small");
      const kept = await must<{ task: Task }>(server.url, "SendMessage", saying("small 0.05"));
      expect(kept.task.status.state).toBe("TASK_STATE_COMPLETED");
      writeFileSync(`${disk}/ballast`, Buffer.alloc(13 * MB));

      // More than there is room for now.
      const stream = await open(server.url, { method: "SendStreamingMessage", params: saying("big 3") });
      const told: Frame[] = [];
      const reading = (async () => {
        for await (const frame of stream.frames) told.push(frame);
      })();
      bench.open("big");
      let refusal: Answer<unknown> | undefined;
      await until(async () => {
        refusal = await ask(server.url, "SendMessage", saying("small 0.05"));
        return refusal.error !== undefined;
      });
      expect(refusal).toMatchObject({ status: 503, error: { data: [{ reason: "UNAVAILABLE" }] } });
      if (refusal !== undefined) expectCivil(refusal);
      expect(Number(refusal?.retryAfter)).toBeGreaterThan(0);
      expect(server.stderr()).toContain("The store is unavailable; requests are refused");
      // What is there can still be read.
      expect(await must<Task>(server.url, "GetTask", { id: kept.task.id })).toEqual(kept.task);

      // Not a byte is left, not only too little for what was sent.
      fill(`${disk}/more-ballast`);
      await until(async () => (await fetch(`${server.url}/readyz`)).status === 503);

      rmSync(`${disk}/more-ballast`);
      rmSync(`${disk}/ballast`);
      const { task } = await must<{ task: Task }>(server.url, "SendMessage", saying("small 0.05"));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
      expect(server.stderr()).toContain("The store is available again");
      // The run that had to be given up is begun again, and its reader has lost nothing.
      await reading;
      const events = eventsOf(told);
      expect(events.map(({ id }) => id)).toEqual(idsUpTo(events.length));
      expect(events.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
      await server.kill("SIGKILL");

      const again = await bench.serve(args);
      expect(await must<Task>(again.url, "GetTask", { id: kept.task.id })).toEqual(kept.task);
      const id = told[0]?.result.task?.id;
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

describe("a database that somebody else has locked", () => {
  it("holds the server up for as long, and no longer", async () => {
    const server = await serve();
    const other = new DatabaseSync(bench.path("tasks.db"));
    other.exec("BEGIN IMMEDIATE");
    openGates("held-up");
    const waiting = ask<{ task: Task }>(server.url, "SendMessage", saying("held-up"));
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, "still waiting"))]);
    expect(early).toBe("still waiting");
    other.exec("COMMIT");
    other.close();
    expect((await waiting).result?.task.status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("a server that cannot start", () => {
  const refusal = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await bench.run(["serve", "--port", "0", ...args]);
    expect(stderr).not.toMatch(STACK);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    return stderr;
  };
  const withTask = async () => {
    const server = await bench.serve(["--demo", "--store", "sqlite:tasks.db"]);
    await must(server.url, "SendMessage", saying("Hello"));
    return server;
  };

  it("says whose the database is, and leaves it alone", async () => {
    const owner: Serving = await withTask();
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(
      new RegExp(`in use by process ${owner.pid}.*(stop|choose)`, "is"),
    );
    expect(await must(owner.url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
  });

  it("says that the database is damaged, and what to do", async () => {
    await (await withTask()).kill("SIGTERM");
    truncateSync(bench.path("tasks.db"), 5000);
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(/damaged.*(backup|another file)/is);
  });

  it("says that the database is of a later version, and does not touch it", async () => {
    await (await withTask()).kill("SIGTERM");
    const database = new DatabaseSync(bench.path("tasks.db"));
    const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
    database.exec("PRAGMA user_version = 77");
    database.close();
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(/schema 77.*upgrade/is);
    const untouched = new DatabaseSync(bench.path("tasks.db"));
    untouched.exec(`PRAGMA user_version = ${Number(version)}`);
    untouched.close();
    const server = await bench.serve(["--demo", "--store", "sqlite:tasks.db"]);
    expect(await must(server.url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
  });

  it("says that a locked database is locked", async () => {
    await (await withTask()).kill("SIGTERM");
    const other = new DatabaseSync(bench.path("tasks.db"));
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(/locked by another program.*close/is);
    other.close();
  });

  it("says which port is taken", async () => {
    const { url } = await bench.serve(["--demo", "--store", "memory:"]);
    const { port } = new URL(url);
    const { code, stderr } = await bench.run(["serve", "--demo", "--store", "memory:", "--port", port]);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`Port ${port} .*in use.*--port`, "s"));
    expect(stderr).not.toMatch(STACK);
  });

  it.each([
    ["throws", "throw new TypeError('No key.')", /agent\.mjs.*No key\./s],
    ["exports nothing", "", /agent\.mjs exports no agent.*export default/s],
    ["exports something else", "export default 42", /agent\.mjs/],
    ["is not JavaScript", "agent { name: hello", /agent\.mjs/],
    ["imports what is not there", 'import "no-such-package"', /agent\.mjs.*no-such-package/s],
  ])("says what is wrong with a module that %s", async (_, source, message) => {
    writeFileSync(bench.path("agent.mjs"), source);
    expect(await refusal([bench.path("agent.mjs"), "--store", "memory:"])).toMatch(message);
  });

  it("says that there is no such module", async () => {
    expect(await refusal(["nowhere.mjs", "--store", "memory:"])).toMatch(/no module nowhere\.mjs/i);
  });
});

describe("an agent that throws", () => {
  it("fails its task without telling the caller what went on inside", async () => {
    writeFileSync(
      bench.path("agent.mjs"),
      `export default { id: "thrower", name: "Thrower", description: "Throws.", version: "1.0.0",
         async run() { throw new Error("password is hunter2"); } };`,
    );
    const server = await bench.serve([bench.path("agent.mjs"), "--store", "sqlite:tasks.db"]);
    const answer = await ask<{ task: Task }>(server.url, "SendMessage", saying("go"));
    expect(answer.result?.task.status.state).toBe("TASK_STATE_FAILED");
    expectCivil(answer);
    expect(answer.body).not.toContain("hunter2");
    // The author finds it in the log.
    await until(() => server.stderr().includes("hunter2"));
  });
});

/** A file system of 16 MB, if this process may make one. */
/** Writes until the disk takes no more. */
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
