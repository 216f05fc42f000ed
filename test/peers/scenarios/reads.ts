import { expect } from "vitest";
import { NODES } from "../../fixtures/nodes/serve-agents.ts";
import type { Peer, SeenTask } from "../client-line.ts";
import { type ScenarioGroup, taskOf, textIn } from "../scenario.ts";

export const reads: ScenarioGroup = {
  title: "Get and list",
  scenarios: [
    {
      operation: "get a task",
      async run(setup) {
        const asking = await setup.connect("asking");
        const task = taskOf(await asking.send({ content: "The weather, please" }));
        expect(await asking.get(task.id)).toEqual(task);
        const done = await answered(asking, task);
        expect(await asking.get(task.id)).toEqual(done);
      },
    },
    {
      operation: "get with history length",
      async run(setup) {
        const asking = await setup.connect("asking");
        const task = taskOf(await asking.send({ content: "The weather, please" }));
        const { id } = await answered(asking, task);
        const { history } = await asking.get(id);
        expect(history.length).toBeGreaterThanOrEqual(3);
        for (const length of [1, 2, 1000]) {
          expect((await asking.get(id, { history: length })).history).toEqual(history.slice(-length));
        }
        const one = taskOf(await asking.send({ content: "Once more", history: 1 }));
        expect(one.history).toHaveLength(1);
      },
    },
    {
      operation: "get without history",
      needs: "history-zero",
      async run(setup) {
        const echo = await setup.connect("echo");
        const task = taskOf(await echo.send({ content: "x", history: 0 }));
        expect(task.history).toEqual([]);
        expect((await echo.get(task.id, { history: 0 })).history).toEqual([]);
      },
    },
    {
      operation: "list, page by page",
      needs: "lists",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { contextId, ids } = await fourTasks(echo, setup.unusedName());
        const first = await echo.list({ contextId, pageSize: 3 });
        expect(first.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 3));
        expect(first).toMatchObject({ total: 4, pageSize: 3 });
        const second = await echo.list({ contextId, pageSize: 3, pageToken: first.next });
        expect(second.tasks.map(({ id }) => id)).toEqual(ids.slice(3));
        expect(second).toMatchObject({ total: 4, pageSize: 3, next: "" });
        expect(await echo.list({ contextId })).toMatchObject({ total: 4, pageSize: 50, next: "" });
      },
    },
    {
      operation: "list by context, state and time",
      needs: "lists",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { contextId, ids } = await fourTasks(echo, setup.unusedName());
        const list = async (query: Parameters<Peer["list"]>[0]) =>
          (await echo.list({ contextId, ...query })).tasks.map(({ id }) => id);
        expect(await list({ state: "completed" })).toEqual(ids);
        expect(await list({ state: "working" })).toEqual([]);
        const [newest] = (await echo.list({ contextId })).tasks;
        const since = newest?.timestamp;
        expect(await list({ since })).toContain(ids[0]);
        const later = new Date(Date.parse(since ?? "") + 60_000).toISOString();
        expect(await list({ since: later })).toEqual([]);
        expect((await echo.list({ contextId: setup.unusedName() })).total).toBe(0);
      },
    },
    {
      operation: "list with artifacts and history",
      needs: "lists",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { contextId, texts } = await fourTasks(echo, setup.unusedName());
        const bare = (await echo.list({ contextId })).tasks;
        expect(bare.flatMap(({ artifacts }) => artifacts)).toEqual([]);
        const full = (await echo.list({ contextId, artifacts: true, history: 0 })).tasks;
        expect(full.map(textIn)).toEqual(texts);
        expect(full.flatMap(({ history }) => history)).toEqual([]);
        const listed = (await echo.list({ contextId, history: 1 })).tasks;
        expect(listed.map(({ history }) => history.length)).toEqual([1, 1, 1, 1]);
      },
    },
  ],
};

/** The task after its questions were answered. */
async function answered(asking: Peer, { id: taskId }: SeenTask): Promise<SeenTask> {
  await asking.send({ content: "Oslo", taskId });
  return taskOf(await asking.send({ content: "tomorrow", taskId }));
}

/** Creates four tasks in one context; returns their ids and texts, newest first. */
async function fourTasks(echo: Peer, contextId: string) {
  const tasks: { readonly text: string; readonly task: SeenTask }[] = [];
  for (const text of ["first", "second", "third", "fourth"])
    tasks.unshift({ text, task: taskOf(await echo.send({ content: text, contextId })) });
  // The clocks of nodes differ by some milliseconds, and each task has been completed by another node.
  if (NODES > 1) tasks.sort((one, other) => (sortKey(one.task) < sortKey(other.task) ? 1 : -1));
  return { contextId, ids: tasks.map(({ task }) => task.id), texts: tasks.map(({ text }) => text) };
}

function sortKey({ timestamp, id }: SeenTask): string {
  return `${timestamp} ${id}`;
}
