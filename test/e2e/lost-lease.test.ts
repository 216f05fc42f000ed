import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect, eventsOf, idsUpTo, must, sendParams, type Task } from "./rpc.ts";
import { fixture, until, Workbench } from "./workbench.ts";

const WAYS = ["write", "end", "status", "step", "ask", "sleep", "flush"];

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

describe("an agent that ignores its abort signal and keeps writing after its lease was lost", () => {
  const serve = (options: object) =>
    bench.serveScript("server.ts", { env: { SETUP: JSON.stringify({ modules: [fixture("stubborn.ts")], options }) } });
  const begin = async (url: string) => {
    const params = sendParams("begin", { configuration: { returnImmediately: true } });
    const { task } = await must<{ task: Task }>(url, "SendMessage", params);
    await until(() => bench.lines("starts").length === 1);
    return task.id;
  };
  const letItTry = async () => {
    bench.openGate("go-on");
    await until(() => bench.lines("tries").length === WAYS.length);
    return bench.lines("tries");
  };
  const logOf = async (url: string, id: string) => {
    const frames = await collect(url, { method: "SubscribeToTask", params: { id }, after: 0 });
    expect(JSON.stringify(frames)).not.toContain("ghost");
    const events = eventsOf(frames);
    expect(events.map((event) => event.id)).toEqual(idsUpTo(events.length));
    return events;
  };

  it("changes nothing after its task was canceled", async () => {
    const { url } = await serve({ cancelGrace: 50 });
    const id = await begin(url);
    const canceled = await must<Task>(url, "CancelTask", { id });
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    const before = await logOf(url, id);
    expect(await letItTry()).toEqual(WAYS.map((way) => `${way} refused`));
    expect(bench.lines("reason")).toEqual(["canceled"]);
    expect(await logOf(url, id)).toEqual(before);
    expect(await must<Task>(url, "GetTask", { id })).toEqual(canceled);
  });

  it("changes nothing after another node claimed its task; a new attempt finishes the task", async () => {
    const server = await serve({});
    const id = await begin(server.url);
    expect(await server.ask({ kind: "steal", task: id })).toEqual([{ status: "ok", epoch: 2 }]);
    const tries = await letItTry();
    // The first three writes may be queued before the commit that reports the loss; the others wait for that commit.
    expect(tries.slice(3)).toEqual(WAYS.slice(3).map((way) => `${way} refused`));
    await until(() => bench.lines("starts").length === 2);
    await until(async () => (await must<Task>(server.url, "GetTask", { id })).status.state === "TASK_STATE_COMPLETED");
    const { artifacts } = await must<Task>(server.url, "GetTask", { id });
    expect(artifacts?.map(({ parts }) => parts.map((part) => part.text))).toEqual([["before after"]]);
    await logOf(server.url, id);
  });
});
