import { expect } from "vitest";
import { until } from "../../e2e/workbench.ts";
import { questionOf, type ScenarioGroup, taskOf, textIn } from "../scenario.ts";

export const sends: ScenarioGroup = {
  title: "Send",
  scenarios: [
    {
      operation: "wait for the finished task",
      async run(setup) {
        const echo = await setup.connect("echo");
        for (const wait of [undefined, true]) {
          const option = wait === undefined ? {} : { wait };
          const task = taskOf(await echo.send({ content: "Hello", ...option }));
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
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const task = taskOf(await paced.send({ content: name, wait: false }));
        expect(["submitted", "working"]).toContain(task.state);
        setup.gates.open(name);
        setup.gates.open(`${name}!`);
        await until(async () => (await paced.get(task.id)).state === "completed");
      },
    },
    {
      operation: "answered with a message",
      async run(setup) {
        const echo = await setup.connect("echo");
        for (const wait of [true, false]) {
          const answer = await echo.send({ content: "message: Hello", wait });
          expect(answer).toMatchObject({ kind: "message", message: { role: "agent", parts: [{ text: "Hello" }] } });
        }
      },
    },
    {
      operation: "answered with a question",
      async run(setup) {
        const asking = await setup.connect("asking");
        const task = taskOf(await asking.send({ content: "The weather, please" }));
        expect(task.state).toBe("input-required");
        expect(questionOf(task)).toBe("Where?");
        expect(task.message).toMatchObject({ role: "agent", taskId: task.id, contextId: task.contextId });
      },
    },
    {
      operation: "task fails, task is rejected",
      async run(setup) {
        const unhappy = await setup.connect("unhappy");
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
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const outputModes = ["text/markdown", "image/png"];
        const task = taskOf(await mirror.send({ content: "x", outputModes }));
        expect(task.artifacts[0]?.parts[0]?.data).toMatchObject({ outputModes });
      },
    },
  ],
};
