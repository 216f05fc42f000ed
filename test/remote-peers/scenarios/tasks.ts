import { expect } from "vitest";
import { answerOf, type ScenarioGroup, taskOf } from "../scenario-setup.ts";

export const tasks: ScenarioGroup = {
  title: "Get, list and cancel",
  scenarios: [
    {
      operation: "get a task",
      async run(setup) {
        const agent = await setup.connect();
        const task = taskOf(await agent.send("hello"));
        // Servers of 0.x return no history unless it is requested.
        expect(await agent.task(task.id).get({ historyLength: 1000 })).toEqual(task);
      },
    },
    {
      operation: "get with history length",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("ask"));
        await agent.task(id).reply("this one");
        const { history = [] } = await agent.task(id).get({ historyLength: 1000 });
        expect(history.length).toBeGreaterThanOrEqual(2);
        for (const historyLength of [1, 2, 3]) {
          expect((await agent.task(id).get({ historyLength })).history).toEqual(history.slice(-historyLength));
        }
      },
    },
    {
      operation: "get without history",
      needs: "history-zero",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hello"));
        expect((await agent.task(id).get({ historyLength: 0 })).history ?? []).toEqual([]);
      },
    },
    {
      operation: "list, page by page",
      needs: "lists",
      async run(setup) {
        const agent = await setup.connect();
        const made: string[] = [];
        const { contextId } = taskOf(await agent.send("hello"));
        for (let index = 0; index < 5; index++) made.push(taskOf(await agent.send("hello", { contextId })).id);
        const listed: string[] = [];
        for await (const { id } of agent.tasks({ contextId, pageSize: 2 })) listed.push(id);
        expect(listed).toHaveLength(6);
        expect(listed).toEqual(expect.arrayContaining(made));
        const page = await agent.taskPage({ contextId, pageSize: 2 });
        expect(page).toMatchObject({ pageSize: 2, total: 6, tasks: [{ contextId }, { contextId }] });
        expect(page.nextPageToken).not.toBe("");
      },
    },
    {
      operation: "list by state and time, with artifacts and history",
      needs: "lists",
      async run(setup) {
        const agent = await setup.connect();
        const since = new Date(Date.now() - 60_000);
        const { contextId } = taskOf(await agent.send("hello"));
        await agent.send("fail", { contextId });
        const [done] = (await agent.taskPage({ contextId, state: "completed", since, artifacts: true })).tasks;
        expect(answerOf(done)).toBe("hello");
        const [bare] = (await agent.taskPage({ contextId, state: "completed", historyLength: 0 })).tasks;
        expect(answerOf(bare)).toBe("");
        expect(bare?.history ?? []).toEqual([]);
        expect((await agent.taskPage({ contextId, state: "failed" })).total).toBe(1);
        expect((await agent.taskPage({ contextId, since: new Date(Date.now() + 60_000) })).tasks).toEqual([]);
      },
    },
    {
      operation: "cancel a running task",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hang", { wait: false }));
        // A server of 0.2 answers with the task at the time of the cancel request.
        expect((await agent.task(id).cancel()).id).toBe(id);
        expect((await agent.task(id).wait()).status.state).toBe("canceled");
      },
    },
    {
      operation: "cancel the same task again",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hang", { wait: false }));
        await agent.task(id).cancel();
        await agent.task(id).wait();
        const { repeatedCancel } = setup.line.rules;
        if (repeatedCancel === "the task") expect((await agent.task(id).cancel()).status.state).toBe("canceled");
        else await setup.refused(agent.task(id).cancel(), repeatedCancel);
      },
    },
  ],
};
