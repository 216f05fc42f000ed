import { expect } from "vitest";
import { questionOf, type ScenarioGroup, taskOf } from "../scenario.ts";

export const conversations: ScenarioGroup = {
  title: "Multi-turn",
  scenarios: [
    {
      operation: "several turns of one task",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id: taskId, contextId } = taskOf(await asking.send({ content: "The weather, please" }));
        const second = taskOf(await asking.send({ content: "Oslo", taskId }));
        expect(second).toMatchObject({ id: taskId, contextId, state: "input-required" });
        expect(questionOf(second)).toBe("When?");
        const done = taskOf(await asking.send({ content: "tomorrow", taskId, contextId }));
        expect(done.state).toBe("completed");
        expect(done.artifacts.flatMap(({ parts }) => parts)).toEqual([{ data: { where: "Oslo", when: "tomorrow" } }]);
        const said = done.history.filter(({ role }) => role === "user").map(({ parts }) => parts[0]?.text);
        expect(said).toEqual(["The weather, please", "Oslo", "tomorrow"]);
      },
    },
    {
      operation: "several tasks in one context",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const first = taskOf(await mirror.send({ content: "one" }));
        const { contextId } = first;
        const second = taskOf(await mirror.send({ content: "two", contextId }));
        expect(second.id).not.toBe(first.id);
        expect(second.contextId).toBe(contextId);
        expect(second.artifacts[0]?.parts[0]?.data).toMatchObject({ contextId, messages: 1 });
      },
    },
    {
      operation: "context named by the client",
      async run(setup) {
        const echo = await setup.connect("echo");
        const contextId = setup.unusedName();
        expect(taskOf(await echo.send({ content: "one", contextId })).contextId).toBe(contextId);
        expect(taskOf(await echo.send({ content: "two", contextId })).contextId).toBe(contextId);
      },
    },
    {
      operation: "reference to other tasks",
      needs: "references",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const referenceTaskIds = [taskOf(await mirror.send({ content: "one" })).id, "some other"];
        const task = taskOf(await mirror.send({ content: "two", referenceTaskIds }));
        expect(referenceTaskIds).not.toContain(task.id);
        expect(task.artifacts[0]?.parts[0]?.data).toMatchObject({ referenceTaskIds });
      },
    },
  ],
};
