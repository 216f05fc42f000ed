import { expect } from "vitest";
import { until } from "../../e2e/workbench.ts";
import type { SeenEvent } from "../client-line.ts";
import { all, type ScenarioGroup, stateIn, taskOf, textIn } from "../scenario.ts";

export const subscriptions: ScenarioGroup = {
  title: "Subscribe",
  scenarios: [
    {
      operation: "running task",
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const { id } = taskOf(await paced.send({ content: name, wait: false }));
        const events: SeenEvent[] = [];
        for await (const event of paced.subscribe(id)) {
          events.push(event);
          if (textIn(events) === "one ") setup.gates.open(name);
          if (textIn(events) === "one two ") setup.gates.open(`${name}!`);
        }
        expect(events[0]).toMatchObject({ kind: "task", task: { id } });
        expect(textIn(events)).toBe("one two three");
        expect(stateIn(events.at(-1))).toBe("completed");
      },
    },
    {
      operation: "after a broken connection",
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const breaking = new AbortController();
        let id = "";
        const reading = (async () => {
          for await (const event of paced.stream({ content: name }, { signal: breaking.signal })) {
            if (event.kind === "task") id = event.task.id;
            if (textIn([event]) !== "") breaking.abort();
          }
        })();
        await expect(reading).rejects.toThrow(/abort|cancel/i);
        const events: SeenEvent[] = [];
        for await (const event of paced.subscribe(id)) {
          events.push(event);
          setup.gates.open(name);
          setup.gates.open(`${name}!`);
        }
        expect(textIn(events.slice(0, 1))).toBe("one ");
        expect(textIn(events)).toBe("one two three");
        expect(stateIn(events.at(-1))).toBe("completed");
      },
    },
    {
      operation: "two subscribers at once",
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const { id } = taskOf(await paced.send({ content: name, wait: false }));
        await until(async () => textIn(await paced.get(id)) === "one ");
        const opened = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const readings = opened.map(async ({ resolve }) => {
          const events: SeenEvent[] = [];
          for await (const event of paced.subscribe(id)) {
            events.push(event);
            resolve();
          }
          return events;
        });
        await Promise.all(opened.map(({ promise }) => promise));
        setup.gates.open(name);
        setup.gates.open(`${name}!`);
        const [one, other] = await Promise.all(readings);
        expect(one).toEqual(other);
        expect(textIn(one ?? [])).toBe("one two three");
      },
    },
    {
      operation: "task that waits for an answer",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id } = taskOf(await asking.send({ content: "The weather, please" }));
        const answers = ["nowhere", "never"];
        const events: SeenEvent[] = [];
        const sent: Promise<unknown>[] = [];
        for await (const event of asking.subscribe(id)) {
          events.push(event);
          const content = stateIn(event) === "input-required" ? answers.shift() : undefined;
          if (content !== undefined) sent.push(asking.send({ content, taskId: id }));
        }
        await Promise.all(sent);
        expect(events[0]).toMatchObject({ kind: "task", task: { id, state: "input-required" } });
        expect(events.slice(1).map(stateIn)).toEqual(["working", "input-required", "working", "rejected"]);
      },
    },
    {
      operation: "finished task",
      async run(setup) {
        const echo = await setup.connect("echo");
        const task = taskOf(await echo.send({ content: "done" }));
        const { finishedSubscribe } = setup.line.rules;
        if (finishedSubscribe === "the task") {
          expect(await all(echo.subscribe(task.id))).toEqual([{ kind: "task", task }]);
        } else await setup.refused(echo.subscribe(task.id), finishedSubscribe);
      },
    },
  ],
};
