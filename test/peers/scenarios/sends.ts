import { expect } from "vitest";
import { until } from "../../e2e/workbench.ts";
import { questionOf, type ScenarioGroup, taskOf, textIn } from "../scenario.ts";

export const sends: ScenarioGroup = {
  title: "Send",
  scenarios: [
    {
      operation: "wait for the finished task",
      async run(stage) {
        const echo = await stage.meet("echo");
        for (const wait of [undefined, true]) {
          const saying = wait === undefined ? {} : { wait };
          const task = taskOf(await echo.send({ content: "Hello", ...saying }));
          expect(task.state).toBe("completed");
          expect(textIn(task)).toBe("Hello");
          expect(task.history.map(({ role }) => role)).toEqual(["user"]);
          expect(task.history[0]).toMatchObject({ parts: [{ text: "Hello" }], taskId: task.id });
          expect(task.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        }
      },
    },
    {
      operation: "do not wait",
      async run(stage) {
        const paced = await stage.meet("paced");
        const name = stage.fresh();
        const task = taskOf(await paced.send({ content: name, wait: false }));
        expect(["submitted", "working"]).toContain(task.state);
        stage.gates.open(name);
        stage.gates.open(`${name}!`);
        await until(async () => (await paced.get(task.id)).state === "completed");
      },
    },
    {
      operation: "answered with a message",
      async run(stage) {
        const echo = await stage.meet("echo");
        for (const wait of [true, false]) {
          const answer = await echo.send({ content: "message: Hello", wait });
          expect(answer).toMatchObject({ kind: "message", message: { role: "agent", parts: [{ text: "Hello" }] } });
        }
      },
    },
    {
      operation: "answered with a question",
      async run(stage) {
        const asking = await stage.meet("asking");
        const task = taskOf(await asking.send({ content: "The weather, please" }));
        expect(task.state).toBe("input-required");
        expect(questionOf(task)).toBe("Where?");
        expect(task.message).toMatchObject({ role: "agent", taskId: task.id, contextId: task.contextId });
      },
    },
    {
      operation: "task fails, task is rejected",
      async run(stage) {
        const unhappy = await stage.meet("unhappy");
        const failed = taskOf(await unhappy.send({ content: "fail" }));
        expect(failed.state).toBe("failed");
        expect(questionOf(failed)).not.toContain("secret");
        const rejected = taskOf(await unhappy.send({ content: "reject" }));
        expect(rejected.state).toBe("rejected");
        expect(questionOf(rejected)).toBe("Not with me.");
      },
    },
    {
      operation: "accepted output modes",
      async run(stage) {
        const mirror = await stage.meet("mirror");
        const outputModes = ["text/markdown", "image/png"];
        const task = taskOf(await mirror.send({ content: "x", outputModes }));
        expect(task.artifacts[0]?.parts[0]?.data).toMatchObject({ outputModes });
      },
    },
  ],
};
