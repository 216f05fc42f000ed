import { type Agent, agent } from "../engine/agent/agent.ts";
import { textOf } from "../protocol/part.ts";

/** Makes `reply` answer with a bare message, so that both kinds of answers can be tried. */
const PREFIX = /^\s*message:\s*/i;

/** Returns what it receives: as a task, or as a message without a task if the text starts with `message:`. */
export const echo: Agent = agent({
  id: "echo",
  name: "Echo",
  description: "Returns your message. Start it with “message:” to get a message instead of a task.",
  version: "1.0.0",
  inputModes: ["text/plain", "application/json", "*/*"],
  outputModes: ["text/plain", "application/json", "*/*"],
  skills: [
    {
      id: "echo",
      name: "Echo",
      description: "Completes a task whose result is what you sent, part by part.",
      tags: ["demo", "echo"],
      examples: ["Hello", "message: Hello"],
    },
  ],
  reply(message) {
    const text = textOf(message.parts);
    return PREFIX.test(text) ? text.replace(PREFIX, "") || "…" : undefined;
  },
  async run(task) {
    return task.message.parts;
  },
});
