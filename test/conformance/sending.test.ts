import { describe, expect, it } from "vitest";
import { accepted, receivedState, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { createGate } from "./gate.ts";
import { NO_SUCH_MEMBER, outputOf, type Task, textOf } from "./neutral.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  const { rules } = dialectClient;
  const { wholeHistory: history } = rules;
  /** The task and context ids of a message, in versions that have these members. */
  const linked = ({ id, contextId }: Task) => (rules.messageIds ? { taskId: id, contextId } : {});

  describe("a send", () => {
    it("that waits returns the finished task", async () => {
      const opening = textToRun(async () => "done");
      const task = await taskOf(caller().send({ ...text(opening), messageId: "first" }, { wait: true, history }));
      expect(task).toMatchObject({ status: { state: "completed" }, artifacts: [{ parts: [{ text: "done" }] }] });
      expect(task.history).toMatchObject([
        {
          messageId: rules.messageIds ? "first" : NO_SUCH_MEMBER,
          role: "user",
          parts: [{ text: opening }],
          ...linked(task),
        },
      ]);
    });

    it("that does not wait returns as soon as the task exists", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await gate.passed(task.signal);
        return "done";
      });
      const task = await taskOf(caller().send(text(opening), { wait: false }));
      expect(["submitted", "working"]).toContain(task.status.state);
      const stream = await accepted(caller().subscribe(task.id));
      gate.open();
      await stream.rest();
      expect(outputOf(await accepted(caller().get(task.id)))).toBe("done");
    });

    it("that waits returns the question when the task asks one", async () => {
      const opening = textToRun(async (task) => `You chose ${await task.ask("Tea or coffee?")}`);
      const task = await taskOf(caller().send(text(opening), { wait: true }));
      expect(task.status.state).toBe("input-required");
      expect(task.status.message).toMatchObject({ role: "agent", ...linked(task) });
      expect(textOf(task.status.message?.parts)).toBe("Tea or coffee?");
    });

    it("that waits returns when the task needs an authorisation, while the task continues", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await task.requireAuth("Open https://example.org/allow", { until: (signal) => gate.passed(signal) });
        return "allowed";
      });
      const task = await taskOf(caller().send(text(opening), { wait: true }));
      expect(task.status.state).toBe(receivedState(dialectClient, "auth-required"));
      expect(textOf(task.status.message?.parts)).toBe("Open https://example.org/allow");
      const stream = await accepted(caller().subscribe(task.id));
      gate.open();
      await stream.rest();
      const after = await accepted(caller().get(task.id));
      expect([after.status.state, outputOf(after)]).toEqual(["completed", "allowed"]);
    });

    it("to an agent that fails returns a failed task without internal details", async () => {
      const opening = textToRun(async () => {
        throw new Error("password=swordfish");
      });
      const outcome = await caller().send(text(opening), { wait: true });
      expect((await taskOf(outcome)).status.state).toBe("failed");
      expect(outcome.http.text).not.toContain("swordfish");
    });

    it("to an agent that rejects it returns a rejected task with the reason", async () => {
      const opening = textToRun(async (task) => task.reject("Not today."));
      const { status } = await taskOf(caller().send(text(opening), { wait: true }));
      expect([status.state, textOf(status.message?.parts)]).toEqual([
        receivedState(dialectClient, "rejected"),
        "Not today.",
      ]);
    });

    it(`may return a message, in the form of a ${rules.reply}, whether it waits or not`, async () => {
      for (const wait of [true, false]) {
        const sent = await accepted(caller("replier").send(text("Hello"), { wait }));
        const message = { role: "agent", parts: [{ text: "You said: Hello" }] };
        if (rules.reply === "message")
          expect(sent).toMatchObject({ kind: "message", message: { ...message, contextId: expect.any(String) } });
        else expect(sent).toMatchObject({ kind: "task", task: { status: { state: "completed", message } } });
      }
    });

    it("passes the metadata of message and request and the accepted output modes to the agent", async () => {
      let seen: unknown;
      const opening = textToRun(async ({ message, metadata, outputModes, caller: who, tenant }) => {
        seen = { of: message.metadata, with: metadata, outputModes, who: who.id, tenant };
      });
      const outputModes = ["text/plain", "image/*"];
      await taskOf(
        caller(undefined, { token: "alice" }).send(
          { ...text(opening), metadata: { mood: "good" } },
          { wait: true, metadata: { urgent: true }, outputModes },
        ),
      );
      expect(seen).toEqual({ of: { mood: "good" }, with: { urgent: true }, outputModes, who: "alice", tenant: "" });
    });

    it("with a history length returns that many messages", async () => {
      const opening = textToRun(async (task) => {
        await task.ask("One?");
        await task.ask("Two?");
      });
      const { id } = await taskOf(caller().send(text(opening), { wait: true }));
      const answered = await taskOf(caller().send({ ...text("an answer"), taskId: id }, { wait: true, history: 1 }));
      expect(answered.history).toHaveLength(1);
    });
  });

  describe("a conversation", () => {
    const asking = () =>
      textToRun(async (task) => {
        const first = await task.ask("First?");
        return `${first}, ${await task.ask("Second?")}`;
      });

    it("continues a task by its id", async () => {
      const { id, contextId } = await taskOf(caller().send(text(asking()), { wait: true }));
      const second = await taskOf(caller().send({ ...text("a"), taskId: id }, { wait: true }));
      expect(second).toMatchObject({ id, contextId, status: { state: "input-required" } });
      const third = await taskOf(caller().send({ ...text("b"), taskId: id, contextId }, { wait: true, history }));
      expect(third).toMatchObject({ id, contextId, status: { state: "completed" } });
      expect(outputOf(third)).toBe("a, b");
      const said = third.history?.filter(({ role }) => role === "user");
      expect(said?.map(({ parts }) => textOf(parts)).slice(1)).toEqual(["a", "b"]);
      for (const message of said ?? []) expect(message).toMatchObject(linked(third));
    });

    it("continues a context with a new task", async () => {
      const first = await taskOf(caller("echo").send(text("one"), { wait: true }));
      const second = await taskOf(caller("echo").send({ ...text("two"), contextId: first.contextId }, { wait: true }));
      expect(second.contextId).toBe(first.contextId);
      expect(second.id).not.toBe(first.id);
      expect(outputOf(second)).toBe("two");
    });

    it("may refer to other tasks, known or not, without continuing them", async () => {
      const first = await taskOf(caller("echo").send(text("one"), { wait: true }));
      let seen: readonly string[] | undefined;
      const opening = textToRun(async ({ message }) => {
        seen = message.referenceTaskIds;
      });
      const references = [first.id, "unknown"];
      const second = await taskOf(caller().send({ ...text(opening), referenceTaskIds: references }, { wait: true }));
      expect(second.id).not.toBe(first.id);
      expect(seen).toEqual(rules.referenceTaskIds ? references : undefined);
    });

    it("reaches a task that works", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await gate.passed(task.signal);
        return textOf((await task.next()).parts);
      });
      const { id } = await taskOf(caller().send(text(opening), { wait: false }));
      const sending = caller().send({ ...text("by the way"), taskId: id }, { wait: true });
      gate.open();
      expect(outputOf(await taskOf(sending))).toBe("by the way");
    });

    it("cannot continue a missing task, a task of another caller, or a finished task", async () => {
      const done = await taskOf(caller("echo").send(text("done"), { wait: true, history }));
      const { id } = done;
      const say = (taskId: string, token = "") =>
        caller("echo", { token }).send({ ...text("more"), taskId }, { wait: true });
      expect(await refusalOf(say(id))).toBe(rules.finishedSend);
      for (const other of [say("no-such-task"), say(id, "mallory")]) {
        if (rules.namesTasks === "never") expect(await refusalOf(other)).toBe("TaskNotFound");
        // In this version the id names a new task, which belongs to the caller.
        else expect(outputOf(await taskOf(other))).toBe("more");
      }
      expect(await accepted(caller("echo").get(id, history))).toEqual(done);
    });

    it("does not move a task into another context", async () => {
      const { id, contextId } = await taskOf(caller().send(text(asking()), { wait: true }));
      const sending = caller().send({ ...text("a"), taskId: id, contextId: "elsewhere" }, { wait: true });
      expect(await refusalOf(sending)).toBe("InvalidParams");
      expect(await accepted(caller().get(id))).toMatchObject({ contextId, status: { state: "input-required" } });
    });

    it("uses the context id of the caller, or refuses it, but never replaces it", async () => {
      const contextId = `mine-${crypto.randomUUID()}`;
      const outcome = await caller("echo").send({ ...text("hello"), contextId }, { wait: true });
      if (outcome.ok) expect((await taskOf(outcome)).contextId).toBe(contextId);
      else expect(outcome.refusal.name).toBe("InvalidParams");
    });
  });
});
