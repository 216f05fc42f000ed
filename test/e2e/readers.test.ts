import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, collect, eventsOf, idsUpTo, must, open, sendParams, type Task, textOf } from "./rpc.ts";
import { fixture, type Serving, Workbench } from "./workbench.ts";

let bench: Workbench;
let server: Serving;
beforeAll(async () => {
  bench = new Workbench();
  server = await bench.serve([fixture("listener.ts"), fixture("racer.ts"), "--store", "sqlite:tasks.db"]);
});
afterAll(() => bench.close());

const NOW = { configuration: { returnImmediately: true } };

describe("readers of one task", () => {
  it("receive the same events in the same order, whether they start at the beginning, in the middle, or after the end", async () => {
    const { url } = server;
    const sent = await open(url, { method: "SendStreamingMessage", params: sendParams("shared") });
    const fromSend = [];
    const first = await sent.frames.next();
    if (first.done === true) throw new Error("The stream is empty.");
    fromSend.push(first.value);
    const id = first.value.result.task?.id ?? "";
    const fromStart = collect(url, { method: "SubscribeToTask", params: { id }, after: 0 });
    bench.openGate("shared-begin");
    const say = (words: string) => must(url, "SendMessage", sendParams(words, { message: { taskId: id }, ...NOW }));
    for (const words of ["one", "two", "three"]) await say(words);
    // A late subscriber first receives a snapshot of the whole task.
    const late = await open(url, { method: "SubscribeToTask", params: { id } });
    const opening = await late.frames.next();
    for (const words of ["four", "end"]) await say(words);

    for await (const frame of sent.frames) fromSend.push(frame);
    const events = eventsOf(fromSend);
    expect(events.map((frame) => frame.id)).toEqual(idsUpTo(events.length));
    expect(textOf(events)).toBe(
      ["first: shared", ...["one", "two", "three", "four", "end"].map((words) => `received: ${words}`), ""].join("\n"),
    );
    expect(eventsOf(await fromStart)).toEqual(events);
    if (opening.done === true) throw new Error("The stream is empty.");
    const afterOpening = [];
    for await (const frame of late.frames) afterOpening.push(frame);
    expect(afterOpening).toEqual(events.filter((frame) => frame.id > opening.value.id));
    // The snapshot and the events after it make up the whole task.
    const { artifacts } = await must<Task>(url, "GetTask", { id });
    const shown = opening.value.result.task?.artifacts?.flatMap(({ parts }) => parts) ?? [];
    const followed = afterOpening.flatMap(({ result }) => result.artifactUpdate?.artifact.parts ?? []);
    const text = [...shown, ...followed].map((part) => part.text).join("");
    expect(artifacts?.flatMap(({ parts }) => parts)).toEqual([{ text }]);
    const afterEnd = await collect(url, { method: "SubscribeToTask", params: { id }, after: 0 });
    expect(eventsOf(afterEnd)).toEqual(events);
  });

  it("do not affect the task when they disconnect", async () => {
    const { url } = server;
    const [opening] = await collect(
      url,
      { method: "SendStreamingMessage", params: sendParams("left alone") },
      ({ id }) => id < 0,
    );
    const id = opening?.result.task?.id;
    const again = await open(url, { method: "SubscribeToTask", params: { id } });
    again.close();
    bench.openGate("left alone-begin");
    const answer = await must<{ task: Task }>(url, "SendMessage", sendParams("end", { message: { taskId: id } }));
    expect(answer.task.status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("messages to a running task", () => {
  it("reach its inbox in order, and start no new run", async () => {
    const { url } = server;
    const { task } = await must<{ task: Task }>(url, "SendMessage", sendParams("busy", NOW));
    for (const words of ["a", "b", "c"]) {
      const answer = await must<{ task: Task }>(
        url,
        "SendMessage",
        sendParams(words, { message: { taskId: task.id }, ...NOW }),
      );
      expect(answer.task.id).toBe(task.id);
    }
    const waiting = must<{ task: Task }>(url, "SendMessage", sendParams("end", { message: { taskId: task.id } }));
    bench.openGate("busy-begin");
    const done = (await waiting).task;
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(done.artifacts?.[0]?.parts).toEqual([
      { text: "first: busy\nreceived: a\nreceived: b\nreceived: c\nreceived: end\n" },
    ]);
    const texts = done.history?.filter(({ role }) => role === "ROLE_USER").map(({ parts }) => parts[0]?.text);
    expect(texts).toEqual(["busy", "a", "b", "c", "end"]);
  });

  it("are refused once the task is finished", async () => {
    const { task } = await must<{ task: Task }>(server.url, "SendMessage", sendParams("0", NOW)).then(
      async (answer) => {
        bench.openGate("0-begin");
        await must(server.url, "SendMessage", sendParams("end", { message: { taskId: answer.task.id } }));
        return answer;
      },
    );
    const { error } = await ask(server.url, "SendMessage", sendParams("more", { message: { taskId: task.id } }));
    expect(error).toMatchObject({ code: -32004, data: [{ reason: "UNSUPPORTED_OPERATION" }] });
  });
});

describe("two cancels and a completion at the same time", () => {
  it("give the task exactly one final state, and all callers see the same state", async () => {
    const url = `${server.url}/agents/racer/`;
    const ends = new Set<string>();
    // The first task always completes, the last is always canceled, the others may do either.
    const close = Array.from({ length: 24 }, (_, index) => `${15 + index} gentle`);
    for (const manner of ["60", "5000 gentle", ...close]) {
      const { task } = await must<{ task: Task }>(url, "SendMessage", sendParams(manner, NOW));
      const reading = collect(url, { method: "SubscribeToTask", params: { id: task.id }, after: 0 });
      await sleep(20);
      const answers = await Promise.all([1, 2].map(() => ask<Task>(url, "CancelTask", { id: task.id })));
      const events = eventsOf(await reading);
      const terminal = events.filter(({ result }) =>
        /COMPLETED|CANCELED|FAILED|REJECTED/.test(result.statusUpdate?.status.state ?? ""),
      );
      expect(terminal).toHaveLength(1);
      expect(events.at(-1)).toEqual(terminal[0]);
      const state = terminal[0]?.result.statusUpdate?.status.state ?? "";
      ends.add(state);
      for (const { result, error } of answers) {
        // A cancel that is too late gets an error; otherwise it returns the final state.
        if (error !== undefined) expect(error.code).toBe(-32002);
        else expect(result?.status.state).toBe(state);
      }
      expect((await must<Task>(url, "GetTask", { id: task.id })).status.state).toBe(state);
    }
    expect([...ends].toSorted()).toEqual(["TASK_STATE_CANCELED", "TASK_STATE_COMPLETED"]);
  });
});
