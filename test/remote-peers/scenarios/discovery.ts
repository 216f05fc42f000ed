import { expect } from "vitest";
import { REQUIRED_EXTENSION } from "../server-line.ts";
import { answerOf, type ScenarioGroup, taskOf } from "../stage.ts";

export const discovery: ScenarioGroup = {
  title: "Discovery",
  scenarios: [
    {
      operation: "agent card, and the way in that it names",
      async run(stage) {
        const agent = await stage.meet();
        expect(agent.card).toMatchObject({
          name: "Peer",
          description: "Follows a script.",
          version: "1.0.0",
          capabilities: { streaming: true, pushNotifications: true },
        });
        expect(agent.interface).toMatchObject({ binding: stage.binding, protocolVersion: stage.line.protocol });
      },
    },
    {
      operation: "extended card, for a caller that is known",
      needs: "extended-card",
      async run(stage) {
        const stranger = await stage.meet();
        expect((await stranger.extendedCard()).description).toBe("Follows a script.");
        const alice = await stage.meet("able", { headers: { authorization: "Bearer alice" } });
        const card = await alice.extendedCard();
        expect(card).toMatchObject({ name: "Peer", description: "Follows a script, and more." });
      },
    },
    {
      operation: "extension that the agent requires",
      needs: "extensions",
      async run(stage) {
        const agent = await stage.meet("demanding", { extensions: [REQUIRED_EXTENSION] });
        expect(answerOf(taskOf(await agent.send("hello")))).toBe("hello");
        expect(answerOf(taskOf(await agent.stream("hello").result()))).toBe("hello");
      },
    },
  ],
};
