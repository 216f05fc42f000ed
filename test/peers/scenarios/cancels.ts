import { expect } from "vitest";
import type { SeenEvent, SeenTask } from "../client-line.ts";
import { type ScenarioGroup, stateIn, taskOf, textIn } from "../scenario.ts";

export const cancels: ScenarioGroup = {
  title: "Cancel",
  scenarios: [
    {
      operation: "running task",
      async run(setup) {
        const paced = await setup.connect("paced");
        const { id } = taskOf(await paced.send({ content: setup.unusedName(), wait: false }));
        const events: SeenEvent[] = [];
        let canceling: Promise<SeenTask> | undefined;
        for await (const event of paced.subscribe(id)) {
          events.push(event);
          if (textIn(events) === "one ") canceling ??= paced.cancel(id);
        }
        expect(await canceling).toMatchObject({ id, state: "canceled" });
        expect(stateIn(events.at(-1))).toBe("canceled");
        expect((await paced.get(id)).state).toBe("canceled");
      },
    },
    {
      operation: "task that waits for an answer",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id } = taskOf(await asking.send({ content: "The weather, please" }));
        expect(await asking.cancel(id)).toMatchObject({ id, state: "canceled" });
      },
    },
    {
      operation: "the same task again",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id } = taskOf(await asking.send({ content: "The weather, please" }));
        const canceled = await asking.cancel(id);
        const { repeatedCancel } = setup.line.rules;
        if (repeatedCancel === "the task") expect(await asking.cancel(id)).toEqual(canceled);
        else await setup.refused(asking.cancel(id), repeatedCancel);
      },
    },
  ],
};
