import { randomUUID } from "node:crypto";
import { type Agent, agent } from "../../src/index.ts";

/** Yields words, some of them random: if a stored word is lost, the next attempt yields another one. */
export const storyteller: Agent = agent({
  name: "Storyteller",
  description: "Yields words.",
  version: "1.0.0",
  async *run(task) {
    for (let word = 1; word <= 4; word += 1) yield `${await task.step(`word ${word}`, () => randomUUID())}.`;
  },
});
