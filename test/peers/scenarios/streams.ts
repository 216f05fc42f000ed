import { expect } from "vitest";
import { until } from "../../e2e/workbench.ts";
import type { SeenEvent } from "../client-line.ts";
import { all, type ScenarioGroup, type ScenarioSetup, stateIn, textIn } from "../scenario.ts";

export const streams: ScenarioGroup = {
  title: "Stream",
  scenarios: [
    {
      operation: "task from beginning to end",
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const events: SeenEvent[] = [];
        for await (const event of paced.stream({ content: name })) {
          events.push(event);
          // Each chunk is received before the next is written.
          if (textIn(events) === "one ") setup.gates.open(name);
          if (textIn(events) === "one two ") setup.gates.open(`${name}!`);
        }
        expect(events[0]?.kind).toBe("task");
        expect(textIn(events)).toBe("one two three");
        expect(stateIn(events.at(-1))).toBe("completed");
        const said = events.flatMap((event) => (event.kind === "status" ? (event.message?.parts ?? []) : []));
        expect(said).toEqual([{ text: "Counting" }]);
        expectEnd(setup, events);
      },
    },
    {
      operation: "answered with a message",
      async run(setup) {
        const echo = await setup.connect("echo");
        expect(await all(echo.stream({ content: "message: Hi" }))).toMatchObject([
          { kind: "message", message: { role: "agent", parts: [{ text: "Hi" }] } },
        ]);
      },
    },
    {
      operation: "turn by turn, up to each question",
      async run(setup) {
        const asking = await setup.connect("asking");
        const first = await all(asking.stream({ content: "The weather, please" }));
        expect(first[0]?.kind).toBe("task");
        expect(stateIn(first.at(-1))).toBe("input-required");
        expectEnd(setup, first);
        const taskId = first[0]?.kind === "task" ? first[0].task.id : "";
        const second = await all(asking.stream({ content: "Oslo", taskId }));
        expect(stateIn(second.at(-1))).toBe("input-required");
        const third = await all(asking.stream({ content: "tomorrow", taskId }));
        expect(stateIn(third.at(-1))).toBe("completed");
        expectEnd(setup, third);
      },
    },
    {
      operation: "task fails",
      async run(setup) {
        const unhappy = await setup.connect("unhappy");
        const events = await all(unhappy.stream({ content: "fail" }));
        expect(stateIn(events.at(-1))).toBe("failed");
        expectEnd(setup, events);
      },
    },
    {
      operation: "client leaves, task goes on",
      async run(setup) {
        const paced = await setup.connect("paced");
        const name = setup.unusedName();
        const leaving = new AbortController();
        let id = "";
        const reading = (async () => {
          for await (const event of paced.stream({ content: name }, { signal: leaving.signal })) {
            if (event.kind === "task") id = event.task.id;
            if (textIn([event]) !== "") leaving.abort();
          }
        })();
        await expect(reading).rejects.toThrow(/abort|cancel/i);
        setup.gates.open(name);
        setup.gates.open(`${name}!`);
        await until(async () => (await paced.get(id)).state === "completed");
        expect(textIn(await paced.get(id))).toBe("one two three");
      },
    },
    {
      operation: "agent does not stream: client falls back",
      needs: "fallback",
      async run(setup) {
        const quiet = await setup.connect("quiet");
        const events = await all(quiet.stream({ content: "Hello" }));
        expect(events.map(stateIn)).toEqual(["completed"]);
        expect(textIn(events)).toBe("Hello");
      },
    },
  ],
};

/** Checks that only the last event is marked as last, in versions with that mark. */
function expectEnd({ line }: ScenarioSetup, events: readonly SeenEvent[]): void {
  if (!line.rules.marksLast) return;
  const marks = events.flatMap((event) => (event.kind === "status" ? [event.final] : []));
  expect(marks).toEqual([...marks.slice(1).map(() => false), true]);
}
