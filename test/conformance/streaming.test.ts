import { describe, expect, it } from "vitest";
import { accepted, receivedState, refusalOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { foldArtifacts, kindsOf, statesOf, streamedText } from "./fold.ts";
import { createGate } from "./gate.ts";
import type { Frame, State } from "./neutral.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  /** The `final` members of the frames; empty in versions without that member. */
  const finals = (frames: readonly Frame[]) =>
    frames.flatMap((frame) => (frame.kind === "status" ? [frame.final] : []));
  const final = (value: boolean) => (dialectClient.version === "1.0" ? undefined : value);

  describe("a stream", () => {
    it("sends the task, then every event in order, and closes when the task ends", async () => {
      const opening = textToRun(async function* (task) {
        await task.status("Looking");
        yield "a";
        yield "b";
        await task.artifact("data").end({ data: { n: 1 } });
      });
      const stream = await accepted(caller().stream(text(opening)));
      const frames = await stream.rest();
      expect(kindsOf(frames)[0]).toBe("task");
      expect(statesOf(frames)).toEqual(["submitted", "working", "working", "completed"]);
      expect(streamedText(frames)).toBe("ab");
      expect(finals(frames)).toEqual([final(false), final(false), final(true)]);
      const [first, ...events] = frames;
      expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => Number(first?.id) + index + 1));
      const [opened] = frames;
      const id = opened?.kind === "task" ? opened.task.id : "";
      expect(foldArtifacts(frames)).toEqual((await accepted(caller().get(id))).artifacts);
      expect(events.every((frame) => "taskId" in frame && frame.taskId === id)).toBe(true);
    });

    it("sends each event immediately", async () => {
      const gates = [createGate(), createGate()];
      const opening = textToRun(async function* (task) {
        yield "one";
        await gates[0]?.passed(task.signal);
        yield "two";
        await gates[1]?.passed(task.signal);
      });
      const stream = await accepted(caller().stream(text(opening)));
      const first = await stream.until((frame) => frame.kind === "artifact");
      expect(streamedText(first)).toBe("one");
      gates[0]?.open();
      const second = await stream.until((frame) => frame.kind === "artifact");
      expect(streamedText(second)).toBe("two");
      gates[1]?.open();
      expect(statesOf(await stream.rest())).toEqual(["completed"]);
    });

    it("of a reply without a task has only that message, or in 0.1 its task", async () => {
      const frames = await (await accepted(caller("replier").stream(text("Hi")))).rest();
      const message = { role: "agent", parts: [{ text: "You said: Hi" }] };
      if (dialectClient.rules.reply === "message") expect(frames).toMatchObject([{ kind: "message", message }]);
      else {
        expect(kindsOf(frames)).not.toContain("artifact");
        const last = frames.at(-1);
        const status = last?.kind === "task" ? last.task.status : last?.kind === "status" && last.status;
        expect(status).toMatchObject({ state: "completed", message });
      }
    });

    it("ignores the wait option of the request", async () => {
      const opening = textToRun(async () => "done");
      const stream = await accepted(caller().stream(text(opening), { wait: false }));
      expect(statesOf(await stream.rest()).at(-1)).toBe("completed");
    });

    it("of a send closes when the task asks a question, and the next turn has a new stream", async () => {
      const opening = textToRun(async function* (task) {
        yield "before ";
        yield await task.ask("Well?");
      });
      const stream = await accepted(caller().stream(text(opening)));
      const turn = await stream.rest();
      expect(statesOf(turn).at(-1)).toBe("input-required");
      expect(finals(turn).at(-1)).toBe(final(true));
      const [first] = turn;
      const taskId = first?.kind === "task" ? first.task.id : "";
      const next = await (await accepted(caller().stream({ ...text("after"), taskId }))).rest();
      expect(next[0]).toMatchObject({ kind: "task", task: { id: taskId } });
      expect(streamedText(next)).toBe("after");
      expect(statesOf(next).at(-1)).toBe("completed");
      expect(finals(next).at(-1)).toBe(final(true));
    });

    it("stays open while the task needs an authorisation", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await task.requireAuth("Please allow", { until: (signal) => gate.passed(signal) });
      });
      const stream = await accepted(caller().stream(text(opening)));
      const state = receivedState(dialectClient, "auth-required");
      const waiting = await stream.until((frame) => frame.kind === "status" && frame.status.state === state);
      expect(finals(waiting).at(-1)).toBe(final(false));
      gate.open();
      expect(statesOf(await stream.rest()).at(-1)).toBe("completed");
    });

    it.each<[State, string]>([
      ["failed", "fails"],
      ["rejected", "refuses"],
    ])("ends with %s if the agent %s", async (state) => {
      const opening = textToRun(async (task) => {
        if (state === "rejected") task.reject("No.");
        throw new Error("secret");
      });
      const stream = await accepted(caller().stream(text(opening)));
      const frames = await stream.rest();
      expect(statesOf(frames).at(-1)).toBe(receivedState(dialectClient, state));
      expect(finals(frames).at(-1)).toBe(final(true));
      expect(JSON.stringify(frames)).not.toContain("secret");
    });

    it("can be closed by the client without effect on the task", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await gate.passed(task.signal);
        return "still here";
      });
      const stream = await accepted(caller().stream(text(opening)));
      const first = await stream.next();
      await stream.close();
      const id = first?.kind === "task" ? first.task.id : "";
      const again = await accepted(caller().subscribe(id));
      gate.open();
      expect(streamedText(await again.rest())).toBe("still here");
    });

    it("is refused by an agent without streaming", async () => {
      const { undeclaredStreaming } = dialectClient.rules;
      expect(await refusalOf(caller("quiet").stream(text("hi")))).toBe(undeclaredStreaming);
      expect(await refusalOf(caller("quiet").subscribe("no-such-task"))).toBe(undeclaredStreaming);
    });
  });
});
