import { describe, expect, test } from "vitest";
import type { AgentClient } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import type { TaskContext } from "../../src/index.ts";
import { isTerminal } from "../../src/protocol/state.ts";
import { agent, textOfTask, World } from "./world.ts";

const forever = (task: TaskContext): Promise<void> =>
  new Promise((_resolve, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
const leaf = agent("leaf", (task) => forever(task));
const waiter = agent("waiter", async (task) => (await task.ask("?")) ?? "");

async function settled(world: World, id: string): Promise<readonly string[]> {
  for (;;) {
    const states = (await world.tasks(id)).map(({ status }) => status.state);
    if (states.length > 0 && states.every(isTerminal)) return states;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function started(world: World, id: string, count = 1): Promise<void> {
  while ((await world.tasks(id)).filter(({ status }) => status.state === "working").length < count)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("a canceled task", () => {
  test("takes the tasks that it has called with it, at all levels", async () => {
    const middle = agent(
      "middle",
      async (task) => void (await Promise.all([1, 2, 3].map(() => task.call("leaf", "x")))),
    );
    const top = agent("top", async (task) => void (await Promise.all([1, 2].map(() => task.call("middle", "x")))));
    await using world = new World([top, middle, leaf]);
    const sent = await (await world.client("top")).send("go", { wait: false });
    await started(world, "leaf", 6);
    const id = sent.kind === "task" ? sent.task.id : "";
    await (await world.client("top")).task(id).cancel();
    expect(await settled(world, "leaf")).toEqual(Array(6).fill("canceled"));
    expect(await settled(world, "middle")).toEqual(["canceled", "canceled"]);
  });

  test("that waits in the store takes them with it, too", async () => {
    const top = agent("top", async (task) => (await task.call("waiter", "x")).text);
    await using world = new World([top, waiter]);
    const waiting = await world.run("top", "go");
    await world.restart();
    await (await world.client("top")).task(waiting.id).cancel();
    expect(await settled(world, "waiter")).toEqual(["canceled"]);
  });

  test("leaves a detached one alone", async () => {
    const top = agent("top", async (task) => {
      const call = task.call("waiter", "x", { detach: true });
      await call.started;
      await forever(task);
    });
    await using world = new World([top, waiter]);
    const sent = await (await world.client("top")).send("go", { wait: false });
    while ((await world.tasks("waiter"))[0]?.status.state !== "input-required")
      await new Promise((resolve) => setTimeout(resolve, 10));
    const id = sent.kind === "task" ? sent.task.id : "";
    await (await world.client("top")).task(id).cancel();
    expect((await world.tasks("waiter"))[0]?.status.state).toBe("input-required");
  });
});

describe("a called task ends with its caller", () => {
  test.each([
    ["returns without awaiting it", async () => "done", "completed"],
    ["fails", async () => Promise.reject(new Error("no")), "failed"],
  ])("that %s", async (_name, end, state) => {
    const top = agent("top", async (task) => {
      await task.call("leaf", "x").started;
      return end();
    });
    await using world = new World([top, leaf]);
    expect((await world.run("top", "go")).status.state).toBe(state);
    expect(await settled(world, "leaf")).toEqual(["canceled"]);
  });

  test("that reaches its time limit", async () => {
    const top = agent("top", async (task) => (await task.call("leaf", "x")).text, { timeout: 300 });
    await using world = new World([top, leaf]);
    expect((await world.run("top", "go")).status.state).toBe("failed");
    expect(await settled(world, "leaf")).toEqual(["canceled"]);
  });

  test("or before it, if the call has a time limit or is canceled", async () => {
    const top = agent("top", async (task) => {
      const first: unknown = await task.call("leaf", "x", { timeout: 50 }).catch((error: unknown) => error);
      const second = task.call("leaf", "x");
      await second.started;
      await second.cancel();
      const error: unknown = await second.catch((thrown: unknown) => thrown);
      return [first, error].map((thrown) => (thrown as { code: string }).code).join(" ");
    });
    await using world = new World([top, leaf]);
    expect(textOfTask(await world.run("top", "go"))).toBe("call-timeout call-canceled");
    expect(await settled(world, "leaf")).toEqual(["canceled", "canceled"]);
  });
});

describe("a task on another server", () => {
  test("is canceled with its caller; if the server is away, once it is back", async () => {
    await using other = new World([waiter], { serverId: "other" });
    let isAway = false;
    const remote: AgentClient = await connect("http://other.test/agents/waiter", {
      fetch: (input, init) =>
        isAway ? Promise.reject(new TypeError("fetch failed")) : other.server.fetch(new Request(input, init)),
    });
    const top = agent("top", async (task) => (await task.call(remote, "x")).text);
    await using world = new World([top]);
    const first = await world.run("top", "go");
    expect(first.status.state).toBe("input-required");
    await (await world.client("top")).task(first.id).cancel();
    expect(await settled(other, "waiter")).toEqual(["canceled"]);
    const second = await world.run("top", "go");
    isAway = true;
    const canceled = await (await world.client("top")).task(second.id).cancel();
    expect(canceled.status.state).toBe("canceled");
    isAway = false;
    expect(await settled(other, "waiter")).toEqual(["canceled", "canceled"]);
  });
});

test("a task that is canceled while its message is on the way leaves nothing behind", async () => {
  for (let round = 0; round < 10; round++) {
    let called: (() => void) | undefined;
    const isCalled = new Promise<void>((resolve) => {
      called = resolve;
    });
    const top = agent("top", async (task) => {
      const call = task.call("leaf", "x");
      called?.();
      await call;
    });
    await using world = new World([top, leaf]);
    const sent = await (await world.client("top")).send("go", { wait: false });
    await isCalled;
    for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
    const id = sent.kind === "task" ? sent.task.id : "";
    await (await world.client("top")).task(id).cancel();
    while ((await world.tasks("leaf")).some(({ status }) => !isTerminal(status.state)))
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await world.tasks("leaf")).every(({ status }) => status.state === "canceled")).toBe(true);
  }
});
