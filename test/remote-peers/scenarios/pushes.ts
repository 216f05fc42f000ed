import { expect } from "vitest";
import type { PushConfig } from "../../../src/client.ts";
import { type ScenarioGroup, taskOf } from "../scenario-setup.ts";

const HOOK = "https://example.org/hook";

export const pushes: ScenarioGroup = {
  title: "Push configurations",
  scenarios: [
    {
      operation: "create and get",
      async run(setup) {
        const agent = await setup.connect();
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        const config: PushConfig = {
          id: "mine",
          url: HOOK,
          token: "secret",
          authentication: { schemes: ["Bearer"], credentials: "x" },
        };
        expect(await push.create(config)).toMatchObject({ id: "mine", url: HOOK });
        expect(await push.get("mine")).toMatchObject(config);
      },
    },
    {
      operation: "the latest, whatever it is called",
      async run(setup) {
        const agent = await setup.connect();
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        await push.create({ url: HOOK });
        expect(await push.get()).toMatchObject({ url: HOOK });
      },
    },
    {
      operation: "several: list and delete",
      needs: "push-many",
      async run(setup) {
        const agent = await setup.connect();
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        expect(await push.list()).toEqual([]);
        for (const id of ["one", "two"]) await push.create({ id, url: `${HOOK}/${id}` });
        expect((await push.list()).map(({ id, url }) => [id, url])).toEqual([
          ["one", `${HOOK}/one`],
          ["two", `${HOOK}/two`],
        ]);
        await push.delete("one");
        expect((await push.list()).map(({ id }) => id)).toEqual(["two"]);
        // A delete may be repeated.
        await push.delete("one");
      },
    },
    {
      operation: "with the message",
      needs: "push-with-message",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("ask", { push: { id: "mine", url: "http://127.0.0.1:9/hook" } }));
        expect(await agent.task(id).push.get("mine")).toMatchObject({ id: "mine", url: "http://127.0.0.1:9/hook" });
      },
    },
    {
      operation: "of a task that is not there, or under a name that is not there",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hello"));
        await setup.refused(agent.task(id).push.get("nobody"), setup.line.rules.unknownPush);
        await setup.refused(agent.task("nobody").push.create({ url: HOOK }), "task-not-found");
        await setup.refused(agent.task("nobody").push.get("nobody"), "task-not-found");
      },
    },
  ],
};
