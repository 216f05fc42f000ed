import { describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { foldArtifacts, statesOf, streamedText } from "./fold.ts";
import { createGate } from "./gate.ts";
import { isTerminal } from "./neutral.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  const { rules } = dialectClient;
  const counting = (gate: ReturnType<typeof createGate>) =>
    textToRun(async function* (task) {
      yield "one ";
      yield "two ";
      await gate.passed(task.signal);
      yield "three ";
      yield "four";
    });
  /** A task that has written two words and waits at the gate. */
  const half = async (gate: ReturnType<typeof createGate>, messageId = crypto.randomUUID()) => {
    const stream = await accepted(caller().stream({ ...text(counting(gate)), messageId }));
    const frames = await stream.until((frame) => frame.kind === "artifact" && frame.artifact.parts[0]?.text === "two ");
    await stream.close();
    const [first] = frames;
    if (first?.kind !== "task") throw new Error("A stream must begin with its task.");
    return { id: first.task.id, frames };
  };
  const expectFinished = async (id: string, after?: string) => {
    if (rules.finishedSubscribe !== "snapshot") {
      expect(await refusalOf(caller().subscribe(id, after))).toBe(rules.finishedSubscribe);
      return;
    }
    const stream = await accepted(caller().subscribe(id, after));
    const frames = await stream.rest();
    expect(frames).toMatchObject([{ kind: "task", task: { id, status: { state: "completed" } } }]);
  };

  describe("a subscription", () => {
    it("to a running task starts with the current task, followed by new events", async () => {
      const gate = createGate();
      const { id } = await half(gate);
      const stream = await accepted(caller().subscribe(id));
      const first = await stream.next();
      expect(first).toMatchObject({ kind: "task", task: { id, status: { state: "working" } } });
      expect(foldArtifacts(first === undefined ? [] : [first])[0]?.parts).toEqual([{ text: "one two " }]);
      gate.open();
      const rest = await stream.rest();
      expect(streamedText(rest)).toBe("three four");
      expect(statesOf(rest)).toEqual(["completed"]);
      expect(rest.map((frame) => Number(frame.id))).toEqual(rest.map((_, index) => Number(first?.id) + 1 + index));
    });

    it("to a task that waits for input stays open and continues after the answer", async () => {
      const opening = textToRun(async (task) => `${await task.ask("A?")} ${await task.ask("B?")}`);
      const { id } = await taskOf(caller().send(text(opening), { wait: true }));
      const stream = await accepted(caller().subscribe(id));
      expect(await stream.next()).toMatchObject({ kind: "task", task: { status: { state: "input-required" } } });
      await taskOf(caller().send({ ...text("yes"), taskId: id }, { wait: true }));
      const asked = await stream.until((frame) => frame.kind === "status" && frame.status.state === "input-required");
      expect(asked.at(-1)).toMatchObject({ final: dialectClient.version === "1.0" ? undefined : false });
      await taskOf(caller().send({ ...text("no"), taskId: id }, { wait: true }));
      const rest = await stream.rest();
      expect(statesOf(rest).at(-1)).toBe("completed");
      expect(streamedText(rest)).toBe("yes no");
    });

    it(`to a finished task is ${rules.finishedSubscribe === "snapshot" ? "that task" : "refused"}`, async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async () => "over")), { wait: true }));
      await expectFinished(id);
    });

    it("to a missing task, or a task of another caller, is refused", async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async (task) => task.ask("?"))), { wait: true }));
      expect(await refusalOf(caller().subscribe("no-such-task"))).toBe("TaskNotFound");
      expect(await refusalOf(caller(undefined, { token: "mallory" }).subscribe(id))).toBe("TaskNotFound");
    });

    it("gets the same events in the same order as all others, even if one of them disconnects", async () => {
      const gate = createGate();
      const { id } = await half(gate);
      const streams = await Promise.all(["a", "b", "c"].map(() => accepted(caller().subscribe(id))));
      const [first, leaving, last] = streams;
      await leaving?.next();
      await leaving?.close();
      gate.open();
      const [one, other] = await Promise.all([first?.rest(), last?.rest()]);
      expect(one?.length).toBeGreaterThan(3);
      expect(other).toEqual(one);
    });
  });

  describe("a reader that reconnects with the id of the last event it received", () => {
    it("gets exactly the later events while the task runs", async () => {
      const gate = createGate();
      const { id, frames } = await half(gate);
      const [, , seen] = frames;
      const stream = await accepted(caller().subscribe(id, seen?.id));
      const first = await stream.next();
      expect(first).toMatchObject({ kind: "task", id: seen?.id, task: { id, status: { state: "working" } } });
      if (first?.kind === "task") expect([first.task.artifacts, first.task.history]).toEqual([undefined, undefined]);
      gate.open();
      const rest = await stream.rest();
      expect(rest.slice(0, frames.length - 3)).toEqual(frames.slice(3));
      expect(rest.map((frame) => Number(frame.id))).toEqual(rest.map((_, index) => Number(seen?.id) + 1 + index));
      expect(statesOf(rest).at(-1)).toBe("completed");
    });

    it("gets the remaining events after the task has ended; if none remain, the same response as for a finished task", async () => {
      const gate = createGate();
      const { id, frames } = await half(gate);
      gate.open();
      await taskOf(caller().send(text(textToRun(async () => "another")), { wait: true }));
      const all = await (await accepted(caller().subscribe(id, "0"))).rest();
      const last = all.at(-1);
      expect(last?.kind === "status" && isTerminal(last.status.state)).toBe(true);
      const from = frames.at(-1)?.id;
      const rest = await (await accepted(caller().subscribe(id, from))).rest();
      expect(rest.slice(1)).toEqual(all.filter((frame) => Number(frame.id) > Number(from)));
      await expectFinished(id, last?.id);
    });

    it.each(["99999", "-1", "1.5", "abc", "1e2"])(
      "is refused if that is not an event id of this task: %s",
      async (after) => {
        const gate = createGate();
        const { id } = await half(gate);
        expect(await refusalOf(caller().subscribe(id, after))).toBe("InvalidParams");
        gate.open();
      },
    );

    it("and repeats its send gets the same task and starts no other", async () => {
      const gate = createGate();
      let runs = 0;
      const opening = textToRun(async function* (task) {
        runs += 1;
        yield "one";
        await gate.passed(task.signal);
        yield "two";
      });
      const messageInput = { ...text(opening), messageId: crypto.randomUUID() };
      const stream = await accepted(caller().stream(messageInput));
      const frames = await stream.until((frame) => frame.kind === "artifact");
      await stream.close();
      const again = await accepted(caller().stream(messageInput, { after: frames.at(-1)?.id ?? "" }));
      gate.open();
      const rest = await again.rest();
      expect(rest[0]).toMatchObject({ kind: "task", id: frames.at(-1)?.id });
      expect(streamedText(rest)).toBe("two");
      expect(runs).toBe(1);
      const unknown = { ...text(opening), messageId: "never sent" };
      // Where callers choose task ids, the task is not found; otherwise the resume id is invalid.
      const expected = rules.namesTasks === "always" ? "TaskNotFound" : "InvalidParams";
      expect(await refusalOf(caller().stream(unknown, { after: "1" }))).toBe(expected);
      expect(runs).toBe(1);
    });
  });
});
