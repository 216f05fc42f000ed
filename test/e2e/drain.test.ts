import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IS_FULL } from "../fixtures/budget.ts";
import { ask, collect, eventsOf, type Frame, idsUpTo, must, open, sendParams, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

/** The events that come after a restart each. The sample has a step after each of the first two restarts, and the end. */
const RESTARTS = IS_FULL ? [3, 4, 5, 6, 7, 8, 9, 10] : [3, 6, 10];

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const serve = (drainTimeout: number) =>
  bench.serve([fixture("ten-events.ts"), "--store", "sqlite:tasks.db", "--drain-timeout", String(drainTimeout)]);

describe("a server that received SIGTERM", () => {
  it("refuses new tasks, answers waiting callers with the current task, asks stream readers to reconnect, and exits with 0", async () => {
    const server = await serve(1);
    const stream = await open(server.url, { method: "SendStreamingMessage", params: sendParams("streamed") });
    const waiting = ask<{ task: Task }>(server.url, "SendMessage", sendParams("waited-for"));
    await until(async () => {
      const { tasks } = await must<{ tasks: Task[] }>(server.url, "ListTasks", {});
      return tasks.filter(({ status }) => status.state === "TASK_STATE_WORKING").length === 2;
    });
    server.signal("SIGTERM");
    const tooLate = () =>
      ask(server.url, "SendMessage", sendParams("late", { configuration: { returnImmediately: true } }));
    let refusal = await tooLate();
    // The signal may not have arrived yet.
    while (refusal.status === 200) refusal = await tooLate();
    expect(refusal).toMatchObject({ status: 503, error: { data: [{ reason: "UNAVAILABLE" }] } });
    expect(Number(refusal.retryAfter)).toBeGreaterThan(0);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);

    const { status, result } = await waiting;
    expect(status).toBe(200);
    expect(result?.task).toMatchObject({ status: { state: "TASK_STATE_WORKING" }, history: [{ role: "ROLE_USER" }] });
    const frames: Frame[] = [];
    for await (const frame of stream.frames) frames.push(frame);
    expect(stream.asides.join("\n")).toContain("retry: 1000");
    expect(eventsOf(frames).map(({ id }) => id)).toEqual([1]);
    const { code, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("waits for a run that is about to finish", async () => {
    const server = await serve(20);
    const waiting = ask<{ task: Task }>(server.url, "SendMessage", sendParams("nearly"));
    await until(async () => (await must<{ totalSize: number }>(server.url, "ListTasks", {})).totalSize === 1);
    server.signal("SIGTERM");
    for (let event = 2; event <= 10; event++) bench.openGate(`nearly-${event}`);
    expect((await waiting).result?.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await server.ended).code).toBe(0);
  });

  it("resumes the task after every restart, and stream readers miss no event", async () => {
    let server: Serving = await serve(0);
    const read = (call: Parameters<typeof collect>[1], upTo: number) =>
      collect(server.url, call, ({ id, result }) => id < upTo || result.task !== undefined);
    bench.openGate("patient-2");
    const frames = await read({ method: "SendStreamingMessage", params: sendParams("patient") }, 2);
    const id = frames[0]?.result.task?.id;
    for (const event of RESTARTS) {
      const after = eventsOf(frames).length;
      expect((await server.kill("SIGTERM")).code).toBe(0);
      server = await serve(0);
      for (let next = after + 1; next <= event; next++) bench.openGate(`patient-${next}`);
      frames.push(...(await read({ method: "SubscribeToTask", params: { id }, after }, event)));
    }
    const events = eventsOf(frames);
    expect(events.map((event) => event.id)).toEqual(idsUpTo(10));
    expect(events.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
    expect(bench.lines("steps")).toEqual([3, 4, 5, 6, 7, 8, 9].map((event) => `patient-${event}`));
  });
});
