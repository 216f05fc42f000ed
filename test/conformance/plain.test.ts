import type { RunFunction } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, receivedState, taskOf, text } from "./dialect-client.ts";
import { type PlainTask, plainAt } from "./dialect-clients/plain.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { WAITING } from "./every-dialect.ts";
import { createGate } from "./gate.ts";
import type { Fields, State } from "./neutral.ts";
import { outputOf, textOf } from "./neutral.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await openTestServer({ blockingDefault: WAITING });
});
afterAll(() => testServer[Symbol.asyncDispose]());

/** Polls a task until it reaches one of these states: this dialect cannot subscribe. */
async function reached(id: string, states: readonly State[], address: string = testServer.url): Promise<void> {
  const stream = await accepted(jsonRpc0_3.at(address, { version: "0.3" }).subscribe(id));
  await stream.until((frame) => {
    if (frame.kind === "task") return states.includes(frame.task.status.state);
    return frame.kind === "status" && states.includes(frame.status.state);
  });
  await stream.close();
}

/** The final task in this dialect. */
async function ended(id: string, address: string = testServer.url): Promise<PlainTask> {
  await reached(id, ["completed", "failed", "canceled", "rejected"], address);
  return plainAt(address).get(id);
}

describe("the plain dialect", () => {
  const textToRun = (run: RunFunction) => testServer.textToRun(run);

  it("answers a send at once, and returns the progress of the task on request", async () => {
    const gate = createGate();
    const message = textToRun(async function* (task) {
      yield "half ";
      await gate.passed(task.signal);
      yield "done";
    });
    const plain = plainAt(testServer.url);
    const sent = await plain.send({ message });
    expect(["submitted", "working"]).toContain(sent.state);
    expect(sent.said[0]).toEqual(["user", message]);
    await reached(sent.id, ["working"]);
    expect(await plain.get(sent.id)).toMatchObject({ id: sent.id, sessionId: sent.sessionId, state: "working" });
    gate.open();
    const done = await ended(sent.id);
    expect(done).toMatchObject({ id: sent.id, sessionId: sent.sessionId, state: "completed" });
    expect(done.said).toEqual([
      ["user", message],
      ["agent", "half done"],
    ]);
    expect(done.createdAt).toBe(sent.createdAt);
    expect(done.updatedAt >= done.createdAt).toBe(true);
  });

  it.each<[string, (words: string) => Fields]>([
    ["bare", (message) => ({ message })],
    ["as a message", (words) => ({ message: { role: "user", parts: [{ type: "text", text: words }] } })],
    ["as a message without roles and types", (words) => ({ message: { parts: [{ text: words }] } })],
    ["as the parameters of a call", (message) => ({ params: { message } })],
  ])("accepts a text %s", async (_name, body) => {
    const { id } = await plainAt(testServer.url).send(body(textToRun(async (task) => `${task.message.parts.length}`)));
    expect((await ended(id)).said.at(-1)).toEqual(["agent", "1"]);
  });

  it("continues by task id and by session id", async () => {
    const plain = plainAt(testServer.url);
    const first = await plain.send({
      message: textToRun(async (task) => `You chose ${await task.ask("Tea or coffee?")}`),
    });
    await reached(first.id, ["input-required"]);
    // A task that waits for an answer has not ended.
    expect(await plain.get(first.id)).toMatchObject({
      state: "working",
      said: [["user", expect.anything()], QUESTION],
    });
    const second = await plain.send({ message: "tea", taskId: first.id });
    expect([second.id, second.sessionId]).toEqual([first.id, first.sessionId]);
    expect((await ended(first.id)).said.slice(1)).toEqual([QUESTION, ["user", "tea"], ["agent", "You chose tea"]]);
    const third = await plain.send({ message: textToRun(async () => "again"), sessionId: first.sessionId });
    expect(third.sessionId).toBe(first.sessionId);
    expect(third.id).not.toBe(first.id);
    expect((await ended(third.id)).said.at(-1)).toEqual(["agent", "again"]);
  });
  const QUESTION = ["agent", "Tea or coffee?"];

  it("returns a task if the agent replies without one", async () => {
    const { id } = await plainAt(testServer.of("replier")).send({ message: "Hi" });
    const { state, said } = await ended(id, testServer.of("replier"));
    expect([state, said.at(-1)]).toEqual(["completed", ["agent", "You said: Hi"]]);
  });

  it.each<[string, RunFunction, string]>([
    [
      "fails",
      async () => {
        throw new Error("swordfish");
      },
      "The agent failed while working on this task.",
    ],
    ["refuses", async (task) => task.reject("Not today."), "Not today."],
  ])("returns a failed task with the reason if the agent %s", async (_name, run, words) => {
    const { id } = await plainAt(testServer.url).send({ message: textToRun(run) });
    const task = await ended(id);
    expect([task.state, task.said.at(-1)]).toEqual(["failed", ["agent", words]]);
    expect(JSON.stringify(task)).not.toContain("swordfish");
  });

  it.each<[string, RunFunction]>([
    ["works", async (task) => createGate().passed(task.signal)],
    ["does not react to its signal", () => new Promise<never>(() => {})],
    ["sleeps", (task) => task.sleep(20_000)],
    ["waits for an answer", async (task) => void (await task.ask("Well?"))],
  ])("fails a task at its caller's time limit while it %s", async (_name, run) => {
    const message = textToRun(run);
    const { id } = await plainAt(testServer.url).send({ message, timeoutMs: 5 });
    const task = await ended(id);
    expect([task.state, task.said.at(-1)]).toEqual(["failed", ["agent", "Task timed out"]]);
  });

  it("answers not found for missing tasks and for tasks of other callers and agents", async () => {
    const alice = plainAt(testServer.url, { authorization: "Bearer alice" });
    const { id } = await alice.send({ message: textToRun(async (task) => task.ask("?")) });
    expect((await alice.get(id)).id).toBe(id);
    const elsewhere = plainAt(testServer.of("echo"), { authorization: "Bearer alice" });
    for (const refusal of [
      await alice.refusedGet("nothing"),
      await alice.refusedGet("a b/c?d"),
      await plainAt(testServer.url).refusedGet(id),
      await elsewhere.refusedGet(id),
      await alice.refusedSend({ message: "hi", taskId: "nothing" }),
      await plainAt(testServer.url).refusedSend({ message: "hi", taskId: id }),
    ]) {
      expect(refusal).toMatchObject({ status: 404, code: "task-not-found" });
    }
  });

  it.each<[string, Fields]>([
    ["message", {}],
    ["message", { message: "" }],
    ["message", { message: 7 }],
    ["message.parts", { message: { role: "user" } }],
    ["message.parts", { message: { role: "user", parts: [] } }],
    ["message.parts[0].text", { message: { parts: [{ type: "text" }] } }],
    ["message.parts[0].type", { message: { parts: [{ type: "file", text: "x" }] } }],
    ["message.role", { message: { role: "agent", parts: [{ text: "x" }] } }],
    ["params.message", { params: {} }],
    ["params", { params: 7 }],
    ["sessionId", { message: "hi", sessionId: 7 }],
    ["taskId", { message: "hi", taskId: {} }],
    ["timeoutMs", { message: "hi", timeoutMs: 0 }],
    ["timeoutMs", { message: "hi", timeoutMs: "1000" }],
    ["skill", { message: "hi", skill: [] }],
  ])("refuses an invalid field and names it: %s", async (field, body) => {
    const refusal = await plainAt(testServer.of("echo")).refusedSend(body);
    expect(refusal).toMatchObject({ status: 400, code: "invalid-params", fields: [field] });
    expect(refusal.message).toContain(field);
  });

  it("refuses messages to a task that has ended, or in another session than its own", async () => {
    const plain = plainAt(testServer.url);
    const waiting = await plain.send({ message: textToRun(async (task) => task.ask("?")) });
    const mismatch = await plain.refusedSend({ message: "hi", taskId: waiting.id, sessionId: "elsewhere" });
    expect(mismatch).toMatchObject({ status: 400, code: "invalid-params" });
    const { id } = await plain.send({ message: textToRun(async () => "over") });
    await ended(id);
    expect(await plain.refusedSend({ message: "hi", taskId: id })).toMatchObject({
      status: 400,
      code: "unsupported-operation",
    });
  });

  it("works with every version header, because it has no version", async () => {
    for (const version of ["1.0", "0.1", "9.9", "plain"]) {
      const { id } = await plainAt(testServer.of("echo"), { "a2a-version": version }).send({ message: "hi" });
      expect((await plainAt(testServer.of("echo"), { "a2a-version": version }).get(id)).id).toBe(id);
    }
  });
});

describe("a task", () => {
  /** A task with output of every kind that asks a question. */
  const asking = () =>
    testServer.textToRun(async function* (task) {
      yield [{ text: "Hello " }, { text: "there" }, { data: { n: 1 } }];
      await task.artifact("file").end({ file: { url: "https://example.org/a.png", name: "a.png" } });
      yield await task.ask("Well?");
    });

  it.each(DIALECT_CLIENTS)("created in $dialect can be read in the plain dialect", async (maker) => {
    const [mine, plain] = [maker.at(testServer.url, { bodyless: "proto" }), plainAt(testServer.url)];
    const opening = asking();
    const { id, contextId } = await taskOf(mine.send(text(opening), { wait: true }));
    const made = 'Hello there\n{"n":1}\n\na.png: https://example.org/a.png';
    const waiting = await plain.get(id);
    expect(waiting).toMatchObject({ id, sessionId: contextId, state: "working" });
    expect(waiting.said).toEqual([
      ["user", opening],
      ["agent", made],
      ["agent", "Well?"],
    ]);
    await plain.send({ message: "Yes", taskId: id });
    expect((await ended(id)).said).toEqual([
      ["user", opening],
      ["agent", "Well?"],
      ["user", "Yes"],
      ["agent", made.replace('{"n":1}', '{"n":1}\nYes')],
    ]);
    const other = await taskOf(mine.send(text(asking()), { wait: true }));
    await accepted(mine.cancel(other.id));
    expect(await plain.get(other.id)).toMatchObject({ state: "failed" });
    const refused = await taskOf(
      mine.send(text(testServer.textToRun(async (task) => task.reject("No."))), { wait: true }),
    );
    expect(await plain.get(refused.id)).toMatchObject({ state: "failed", said: [expect.anything(), ["agent", "No."]] });
  });

  it.each(DIALECT_CLIENTS)(
    "created in the plain dialect can be read, answered, streamed and canceled in $dialect",
    async (other) => {
      const [plain, theirs] = [
        plainAt(testServer.url),
        other.at(testServer.url, { bodyless: "proto", showStyle: true }),
      ];
      const { wholeHistory } = other.rules;
      const opening = testServer.textToRun(async (task) => {
        await task.ask("One?");
        await task.requireAuth("Two?");
      });
      const { id, sessionId } = await plain.send({ message: opening });
      await reached(id, ["input-required"]);
      const read = await accepted(theirs.get(id, wholeHistory));
      expect(read).toMatchObject({ id, contextId: sessionId, status: { state: "input-required" } });
      expect(read.history?.map(({ parts }) => textOf(parts))[0]).toBe(opening);
      const stream = await accepted(theirs.subscribe(id));
      const answered = await taskOf(theirs.send({ ...text("1"), taskId: id }, { wait: true }));
      expect(answered.status.state).toBe(receivedState(other, "auth-required"));
      expect(await plain.get(id)).toMatchObject({ state: "working" });
      const canceled = await accepted(theirs.cancel(id));
      expect([canceled.status.state, outputOf(canceled)]).toEqual(["canceled", ""]);
      expect((await stream.rest()).at(-1)).toMatchObject({ kind: "status", status: { state: "canceled" } });
      expect(await plain.get(id)).toMatchObject({ state: "failed" });
    },
  );
});
