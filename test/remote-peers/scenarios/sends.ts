import { expect } from "vitest";
import { textOf } from "../../../src/client.ts";
import { answerOf, type ScenarioGroup, taskOf } from "../scenario-setup.ts";

export const sends: ScenarioGroup = {
  title: "Send",
  scenarios: [
    {
      operation: "wait for the finished task",
      async run(setup) {
        const agent = await setup.connect();
        const task = taskOf(await agent.send("hello"));
        expect(task.status.state).toBe("completed");
        expect(answerOf(task)).toBe("hello");
        expect(task.history?.[0]).toMatchObject({ role: "user", parts: [{ text: "hello" }] });
      },
    },
    {
      operation: "do not wait, then wait for the task",
      async run(setup) {
        const agent = await setup.connect();
        const { id, status } = taskOf(await agent.send("chunks 20", { wait: false }));
        expect(["submitted", "working"]).toContain(status.state);
        const task = await agent.task(id).wait();
        expect(task).toMatchObject({ id, status: { state: "completed" } });
        expect(answerOf(task)).toMatch(/^0;.*19;$/);
      },
    },
    {
      operation: "answered with a message",
      async run(setup) {
        const agent = await setup.connect();
        for (const wait of [true, false]) {
          const sent = await agent.send("message", { wait });
          expect(sent).toMatchObject({ kind: "message", message: { role: "agent" } });
          expect(sent.kind === "message" && textOf(sent.message.parts)).toBe("just a message");
        }
      },
    },
    {
      operation: "answered with a question",
      async run(setup) {
        const agent = await setup.connect();
        const { status } = taskOf(await agent.send("ask"));
        expect(status.state).toBe("input-required");
        expect(textOf(status.message?.parts ?? [])).toBe("which one?");
      },
    },
    {
      operation: "task fails, task is rejected",
      async run(setup) {
        const agent = await setup.connect();
        const failed = taskOf(await agent.send("fail"));
        expect(failed.status.state).toBe("failed");
        expect(textOf(failed.status.message?.parts ?? [])).toBe("no luck");
        expect(taskOf(await agent.send("reject")).status.state).toBe("rejected");
      },
    },
    {
      operation: "history length of the answer",
      needs: "history-in-sends",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("ask"));
        const task = taskOf(await agent.send("this one", { taskId: id, historyLength: 1 }));
        expect(task.history).toHaveLength(1);
      },
    },
    {
      operation: "metadata of the message",
      async run(setup) {
        const agent = await setup.connect();
        const metadata = { "https://example.org/key": { list: [1, "two"] } };
        const task = taskOf(await agent.send({ parts: [{ text: "hello" }], metadata }));
        expect(task.history?.[0]?.metadata).toEqual(metadata);
      },
    },
  ],
};
