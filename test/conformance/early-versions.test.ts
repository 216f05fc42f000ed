import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_1 } from "./dialect-clients/v0-1-jsonrpc.ts";
import { jsonRpc0_2 } from "./dialect-clients/v0-2-jsonrpc.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { rest1_0 } from "./dialect-clients/v1-0-rest.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect, WAITING } from "./every-dialect.ts";
import { foldArtifacts, statesOf, streamedText } from "./fold.ts";
import { createGate } from "./gate.ts";
import { outputOf, textOf } from "./neutral.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

const NAMING = DIALECT_CLIENTS.filter(({ rules }) => rules.namesTasks !== "never");

inEveryDialect(NAMING, ({ dialectClient, caller, textToRun, url }) => {
  const { wholeHistory: history } = dialectClient.rules;
  const asking = () => textToRun(async (task) => `${await task.ask("One?")}, ${await task.ask("Two?")}`);

  describe("a task with an id from its caller", () => {
    it.each(["order-7", "Order 7/ä?#%2F", "🌊", "tasks", "__proto__", "0"])("has that id: %j", async (taskId) => {
      const made = await taskOf(caller().send({ ...text(asking()), taskId }, { wait: true, history }));
      expect(made).toMatchObject({ id: taskId, status: { state: "input-required" } });
      const answered = await taskOf(caller().send({ ...text("a"), taskId }, { wait: true, history }));
      expect(answered).toMatchObject({ id: taskId, contextId: made.contextId });
      const frames = await (await accepted(caller().stream({ ...text("b"), taskId }))).rest();
      expect([statesOf(frames).at(-1), streamedText(frames)]).toEqual(["completed", "a, b"]);
      const done = await accepted(caller().get(taskId, history));
      expect(outputOf(done)).toBe("a, b");
      expect(done.history?.filter(({ role }) => role === "user").map(({ parts }) => textOf(parts))).toHaveLength(3);
      // Also where ids are part of a path.
      expect((await accepted(rest1_0.at(url()).get(taskId))).id).toBe(taskId);
    });

    it("belongs to its caller: another caller may use the same id", async () => {
      const [taskId, opening] = [crypto.randomUUID(), asking()];
      const [alice, bob] = [caller(undefined, { token: "alice" }), caller(undefined, { token: "bob" })];
      const hers = await taskOf(alice.send({ ...text(opening), taskId }, { wait: true }));
      expect(await refusalOf(bob.get(taskId))).toBe("TaskNotFound");
      const his = await taskOf(bob.send({ ...text(opening), taskId }, { wait: true }));
      expect([hers.id, his.id]).toEqual([taskId, taskId]);
      expect(his.contextId).not.toBe(hers.contextId);
      await accepted(bob.cancel(taskId));
      expect((await accepted(alice.get(taskId))).status.state).toBe("input-required");
    });

    it("is created once, even if several requests use its id at the same time", async () => {
      const taskId = crypto.randomUUID();
      let runs = 0;
      const received: string[] = [];
      const opening = textToRun(async (task) => {
        runs += 1;
        received.push(task.text);
        while (received.length < 5) received.push(textOf((await task.next()).parts));
      });
      const sends = Array.from({ length: 5 }, () => caller().send({ ...text(opening), taskId }, { wait: false }));
      for (const task of await Promise.all(sends.map(taskOf))) expect(task.id).toBe(taskId);
      const frames = await (await accepted(jsonRpc0_3.at(url(), { version: "0.3" }).subscribe(taskId))).rest();
      expect(statesOf(frames).at(-1)).toBe("completed");
      expect([runs, received]).toEqual([1, Array.from({ length: 5 }, () => opening)]);
    });
  });
});

describe("a caller of an early version that sends no version", () => {
  let testServer: TestServer;
  beforeAll(async () => {
    testServer = await openTestServer({ blockingDefault: WAITING });
  });
  afterAll(() => testServer[Symbol.asyncDispose]());

  /** Free-form members with the names of protocol members. */
  const odd = { kind: "x", type: "y", index: 7, sessionId: "s", messageId: [], artifactId: null, append: true };

  it("gets the members of both forms for a task created in 0.1", async () => {
    const gate = createGate();
    const opening = testServer.textToRun(async function* (task) {
      yield "one ";
      await task.artifact("other", { metadata: odd, extensions: ["urn:x"] }).write({ data: odd, metadata: odd });
      await gate.passed(task.signal);
      yield "two";
      await task.artifact("other").end("more");
      yield await task.ask("Well?");
      await task.requireAuth("Please allow", { until: async () => {} });
      task.reject("No.");
    });
    // Reads each response as 0.1 and as 0.3, and checks that both give the same.
    const mine = jsonRpc0_1.at(testServer.url, { version: null });
    const started = await accepted(mine.stream({ ...text(opening), messageId: "mine", metadata: odd }));
    await started.until((frame) => frame.kind === "artifact" && frame.artifact.artifactId === "1");
    await started.close();
    const stream = await accepted(mine.subscribe("mine"));
    const begun = await stream.next();
    expect(foldArtifacts(begun === undefined ? [] : [begun])).toHaveLength(2);
    gate.open();
    const turn = await stream.until((frame) => frame.kind === "status" && frame.status.state === "input-required");
    expect(turn.map((frame) => frame.kind === "artifact" && frame.artifact.artifactId)).toEqual(["0", "1", false]);
    const asked = await accepted(mine.get("mine", 10));
    expect(asked).toMatchObject({ id: "mine", status: { state: "input-required" }, history: [{ role: "user" }, {}] });
    await taskOf(mine.send({ ...text("go on"), taskId: "mine" }, { wait: true }));
    const frames = await stream.rest();
    expect(statesOf(frames)).toEqual(["working", "input-required", "working", "failed"]);
    expect(await (await accepted(mine.subscribe("mine"))).rest()).toHaveLength(1);
    const resumed = await (await accepted(mine.subscribe("mine", turn[0]?.id))).rest();
    expect(resumed.slice(1)).toEqual([...turn.slice(1), ...frames]);
  });

  it("can cancel such a task", async () => {
    const mine = jsonRpc0_1.at(testServer.url, { version: null });
    const { id } = await taskOf(mine.send(text(testServer.textToRun(async (task) => task.ask("?"))), { wait: true }));
    expect(await accepted(mine.cancel(id))).toMatchObject({ id, status: { state: "canceled" } });
    expect(await refusalOf(mine.cancel(id))).toBe("TaskNotCancelable");
    expect(await refusalOf(mine.get("nothing"))).toBe("TaskNotFound");
  });

  it.each(DIALECT_CLIENTS.filter(({ version }) => version !== "0.1"))(
    "is treated as 0.3 for a task created in $dialect",
    async (maker) => {
      const opening = testServer.textToRun(async (task) => task.ask("?"));
      const { id } = await taskOf(
        maker.at(testServer.url, { bodyless: "proto" }).send(text(opening), { wait: true, history: 0 }),
      );
      // Accepts only the members of 0.3.
      const unnamed = jsonRpc0_3.at(testServer.url);
      expect(await accepted(unnamed.get(id))).toMatchObject({ id, status: { state: "input-required" } });
      const stream = await accepted(unnamed.subscribe(id));
      expect(await stream.next()).toMatchObject({ kind: "task", task: { id } });
      expect(await accepted(unnamed.cancel(id))).toMatchObject({ id, status: { state: "canceled" } });
      expect(statesOf(await stream.rest())).toEqual(["canceled"]);
    },
  );

  it("is treated as 0.2 with assumeVersion 0.2, and can then choose task ids", async () => {
    await using assuming = await openTestServer({ assumeVersion: "0.2" });
    const messageInput = { ...text("hi"), taskId: "mine" };
    const send = (at: TestServer) => jsonRpc0_2.at(at.of("echo"), { version: null }).send(messageInput, { wait: true });
    expect(await taskOf(send(assuming))).toMatchObject({ id: "mine" });
    expect(await refusalOf(send(testServer))).toBe("TaskNotFound");
    const named = jsonRpc0_3.at(assuming.of("echo"), { version: "0.3" });
    expect(await refusalOf(named.send({ ...text("hi"), taskId: "another" }, { wait: true }))).toBe("TaskNotFound");
  });
});
