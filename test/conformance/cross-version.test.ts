import type { TaskContext } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../src/testing/temporary-folder.ts";
import { accepted, type Caller, type DialectClient, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { WAITING } from "./every-dialect.ts";
import { createGate, type Gate } from "./gate.ts";
import type { Frame, Task } from "./neutral.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

/** One server with a store on disk, called in every dialect at the same time. */
let folder: TemporaryFolder;
let testServer: TestServer;
beforeAll(async () => {
  folder = await temporaryFolder();
  const store = `sqlite:${folder.file("tasks.db")}`;
  testServer = await openTestServer({ store, durability: "process", blockingDefault: WAITING });
});
afterAll(async () => {
  await testServer[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/**
 * Each dialect uses its own style; where a request cannot show its style, the server's default. All requests state
 * their version, because responses to requests without a version contain members of several versions.
 */
function callerOf({ version, at }: DialectClient, token?: string): Caller {
  return at(testServer.url, { bodyless: "proto", showStyle: true, version, ...(token !== undefined && { token }) });
}

const BYTES = Buffer.from([1, 2, 255]);

/** Produces every kind of event that every version can express. */
async function* eventful(task: TaskContext, gate: Gate) {
  await gate.passed(task.signal);
  await task.status("Begun", { step: 1 });
  yield "one ";
  yield 'quotes " and \\ and "}]},"append":true} ';
  yield { file: { bytes: BYTES, name: "b.bin", mediaType: "application/octet-stream" } };
  const report = task.artifact('re"port\\', {
    description: "A report",
    metadata: { made: "here" },
    extensions: ["urn:x"],
  });
  await report.write({ data: { n: 1, list: [null, true] }, metadata: { of: "part" } });
  await report.write("more");
  await report.end({ file: { url: "https://example.org/x.png", mediaType: "image/png" } });
  yield await task.ask([{ text: "Go on?" }, { data: { choices: ["yes", "no"] } }]);
  await task.requireAuth("Allowed?", { until: async () => {} });
  yield "done";
}

/** The frames without members that only some versions have. */
function comparable(frames: readonly Frame[]): readonly Frame[] {
  return frames.map((frame) => (frame.kind === "status" ? { ...frame, final: undefined } : frame));
}

/** The frames that a reader of this dialect sees, computed from a complete stream. */
function reducedFrames({ reduction }: DialectClient, frames: readonly Frame[]): readonly Frame[] {
  return comparable(reduction === undefined ? frames : reduction.frames(frames));
}

function reducedTask({ reduction }: DialectClient, task: Task): Task {
  return reduction === undefined ? task : reduction.task(task);
}

describe("readers of one task", () => {
  it.each(DIALECT_CLIENTS)(
    "get the same events in the same order, each in its own form, for a task created in $dialect",
    async (maker) => {
      const gate = createGate();
      const opening = testServer.textToRun((task) => eventful(task, gate));
      const sent = await accepted(callerOf(maker).stream(text(opening)));
      const begun = await sent.until((frame) => frame.kind === "status");
      const [first] = begun;
      if (first?.kind !== "task") throw new Error("A stream must begin with its task.");
      const { id } = first.task;
      const readers = await Promise.all(
        DIALECT_CLIENTS.map((dialectClient) => accepted(callerOf(dialectClient).subscribe(id))),
      );
      gate.open();
      const turn = [...begun, ...(await sent.rest())];
      expect(turn.at(-1)).toMatchObject({ kind: "status", status: { state: "input-required" } });
      // Another caller answers, in the next dialect.
      const answering = DIALECT_CLIENTS[(DIALECT_CLIENTS.indexOf(maker) + 1) % DIALECT_CLIENTS.length] ?? maker;
      await accepted(callerOf(answering).send({ ...text("yes "), taskId: id }, { wait: false }));
      const seen = await Promise.all(readers.map((reader) => reader.rest()));
      const [one = []] = seen;
      expect(one.length).toBeGreaterThan(12);
      for (const [index, dialectClient] of DIALECT_CLIENTS.entries()) {
        expect([dialectClient.dialect, comparable(seen[index] ?? [])]).toEqual([
          dialectClient.dialect,
          reducedFrames(dialectClient, one),
        ]);
      }
      // The other readers' streams continue after the sender's ended, and are the same up to there.
      const shared = turn.filter((frame) => Number(frame.id) > Number(one[0]?.id));
      expect(shared.length).toBeGreaterThan(5);
      expect(comparable(shared)).toEqual(reducedFrames(maker, one).slice(1, shared.length + 1));
      expect(one.map((frame) => Number(frame.id))).toEqual(one.map((_, index) => index + Number(one[0]?.id)));
      // A reader of any version that reconnects receives exactly the events it missed.
      const middle = one[7]?.id ?? "";
      for (const dialectClient of DIALECT_CLIENTS) {
        const again = await (await accepted(callerOf(dialectClient).subscribe(id, middle))).rest();
        expect(comparable(again.slice(1))).toEqual(reducedFrames(dialectClient, one).slice(8));
      }
    },
  );
});

describe("a task created in one dialect", () => {
  const pairs = DIALECT_CLIENTS.flatMap((maker) =>
    DIALECT_CLIENTS.map((other) => ({ from: maker.dialect, to: other.dialect, maker, other })),
  );

  it.each(pairs)("$from is read, listed, answered and canceled over $to", async ({ maker, other }) => {
    const token = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const [mine, theirs] = [callerOf(maker, token), callerOf(other, token)];
    const { wholeHistory: history } = maker.rules;
    /** The same task read over both dialects. */
    const expectSame = async (seen: Task, there: Task) =>
      expect(reducedTask(maker, there)).toEqual(reducedTask(other, seen));
    const get = async (dialectClient: DialectClient, id: string) =>
      accepted(callerOf(dialectClient, token).get(id, dialectClient.rules.wholeHistory));
    const opening = testServer.textToRun(async function* (task) {
      yield [
        { text: "hello" },
        { raw: BYTES.toString("base64"), mediaType: "image/png", filename: "a.png" },
        { data: { a: [1] } },
      ];
      yield await task.ask("One?");
      yield await task.ask("Two?");
    });
    const messageInput = {
      parts: [{ text: opening }, { data: { k: "v" } }],
      metadata: { m: 1 },
      extensions: ["urn:x"],
    };
    const made = await taskOf(mine.send(messageInput, { wait: true, history }));
    const { id } = made;
    await expectSame(made, await get(other, id));
    const listed = async (): Promise<readonly Task[]> =>
      other.rules.list === "none" ? [made] : (await accepted(theirs.list())).tasks;
    expect((await listed()).map((task) => task.id)).toEqual([id]);
    const answer = { ...text("1"), taskId: id };
    const answered = await taskOf(theirs.send(answer, { wait: true, history: other.rules.wholeHistory }));
    expect(answered).toMatchObject({ id, contextId: made.contextId, status: { state: "input-required" } });
    await expectSame(await get(maker, id), answered);
    const canceled = await accepted(theirs.cancel(id));
    expect(canceled.status.state).toBe("canceled");
    await expectSame(await get(maker, id), await get(other, id));
    expect(await accepted(mine.get(id))).toMatchObject({ status: { state: "canceled" } });
  });
});
