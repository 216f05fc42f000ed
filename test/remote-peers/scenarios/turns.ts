import { expect } from "vitest";
import { answerOf, type ScenarioGroup, taskOf } from "../scenario-setup.ts";

export const turns: ScenarioGroup = {
  title: "Multi-turn",
  scenarios: [
    {
      operation: "reply to a question",
      async run(setup) {
        const agent = await setup.connect();
        const asked = taskOf(await agent.send("ask"));
        const done = taskOf(await agent.task(asked.id).reply("this one"));
        expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId, status: { state: "completed" } });
        expect(answerOf(done)).toBe("this one");
      },
    },
    {
      operation: "question answered by onInput, waiting",
      async run(setup) {
        const agent = await setup.connect();
        const task = taskOf(await agent.send("ask", { onInput: ({ text }) => `you asked ${text}` }));
        expect(task.status.state).toBe("completed");
        expect(answerOf(task)).toBe("you asked which one?");
      },
    },
    {
      operation: "question answered by onInput, streaming",
      async run(setup) {
        const agent = await setup.connect();
        const stream = agent.stream("ask", { onInput: ({ text }) => `you asked ${text}` });
        const task = taskOf(await stream.result());
        expect(task.status.state).toBe("completed");
        expect(answerOf(task)).toBe("you asked which one?");
      },
    },
    {
      operation: "several tasks in one context",
      async run(setup) {
        const agent = await setup.connect();
        const first = taskOf(await agent.send("one"));
        const second = taskOf(await agent.send("two", { contextId: first.contextId }));
        expect(second.contextId).toBe(first.contextId);
        expect(second.id).not.toBe(first.id);
      },
    },
    {
      operation: "reference to other tasks",
      needs: "references",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("one"));
        const task = taskOf(await agent.send({ parts: [{ text: "two" }], referenceTaskIds: [id] }));
        expect(task.history?.[0]?.referenceTaskIds).toEqual([id]);
      },
    },
  ],
};
