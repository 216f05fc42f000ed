import { expect } from "vitest";
import { textOf } from "../../../src/client.ts";
import { chunks } from "../agent-script.ts";
import { answerOf, type ScenarioGroup, taskOf } from "../scenario-setup.ts";

export const streams: ScenarioGroup = {
  title: "Stream",
  scenarios: [
    {
      operation: "task from beginning to end",
      async run(setup) {
        const agent = await setup.connect();
        const stream = agent.stream("chunks 50");
        const kinds: string[] = [];
        const pieces: string[] = [];
        for await (const event of stream) {
          kinds.push(event.kind);
          if (event.kind === "artifact") pieces.push(textOf(event.artifact.parts));
        }
        expect(kinds[0]).toBe("task");
        expect(pieces).toEqual(Array.from({ length: 50 }, (_, index) => `${index};`));
        expect(stream.task?.status.state).toBe("completed");
        expect(answerOf(stream.task)).toBe(chunks(50));
      },
    },
    {
      operation: "answered with a message",
      async run(setup) {
        const sent = await (await setup.connect()).stream("message").result();
        expect(sent).toMatchObject({ kind: "message", message: { parts: [{ text: "just a message" }] } });
      },
    },
    {
      operation: "up to a question",
      async run(setup) {
        const task = taskOf(await (await setup.connect()).stream("ask").result());
        expect(task.status.state).toBe("input-required");
      },
    },
    {
      operation: "task fails",
      async run(setup) {
        const task = taskOf(await (await setup.connect()).stream("fail").result());
        expect(task.status.state).toBe("failed");
      },
    },
    {
      operation: "agent does not stream: sent and looked after instead",
      async run(setup) {
        const agent = await setup.connect("bare");
        const task = taskOf(await agent.stream("chunks 20").result());
        expect(task.status.state).toBe("completed");
        expect(answerOf(task)).toBe(chunks(20));
      },
    },
    {
      operation: "subscribe to a running task",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hang", { wait: false }));
        const states: string[] = [];
        for await (const event of agent.task(id).subscribe()) {
          if (states.length === 0) await agent.task(id).cancel();
          if (event.kind !== "message") states.push(event.task.status.state);
        }
        expect(states.at(-1)).toBe("canceled");
      },
    },
    {
      operation: "subscribe to a finished task",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hello"));
        const task = taskOf(await agent.task(id).subscribe().result());
        expect(task).toMatchObject({ id, status: { state: "completed" } });
        expect(answerOf(task)).toBe("hello");
      },
    },
    {
      operation: "caller leaves, task goes on",
      async run(setup) {
        const agent = await setup.connect();
        const stream = agent.stream("chunks 200");
        for await (const event of stream) if (event.kind === "artifact") break;
        const task = await agent.task(stream.task?.id ?? "").wait();
        expect(answerOf(task)).toBe(chunks(200));
      },
    },
  ],
};
