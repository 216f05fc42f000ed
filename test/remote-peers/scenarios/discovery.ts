import { expect } from "vitest";
import { answerOf, type ScenarioGroup, taskOf } from "../scenario-setup.ts";
import { REQUIRED_EXTENSION } from "../server-line.ts";

export const discovery: ScenarioGroup = {
  title: "Discovery",
  scenarios: [
    {
      operation: "agent card, and the way in that it names",
      async run(setup) {
        const agent = await setup.connect();
        expect(agent.card).toMatchObject({
          name: "Peer",
          description: "Follows a script.",
          version: "1.0.0",
          capabilities: { streaming: true, pushNotifications: true },
        });
        expect(agent.interface).toMatchObject({ binding: setup.binding, protocolVersion: setup.line.protocol });
      },
    },
    {
      operation: "extended card, for a caller that is known",
      needs: "extended-card",
      async run(setup) {
        const stranger = await setup.connect();
        expect((await stranger.extendedCard()).description).toBe("Follows a script.");
        const alice = await setup.connect("able", { headers: { authorization: "Bearer alice" } });
        const card = await alice.extendedCard();
        expect(card).toMatchObject({ name: "Peer", description: "Follows a script, and more." });
      },
    },
    {
      operation: "extension that the agent requires",
      needs: "extensions",
      async run(setup) {
        const agent = await setup.connect("demanding", { extensions: [REQUIRED_EXTENSION] });
        expect(answerOf(taskOf(await agent.send("hello")))).toBe("hello");
        expect(answerOf(taskOf(await agent.stream("hello").result()))).toBe("hello");
      },
    },
  ],
};
