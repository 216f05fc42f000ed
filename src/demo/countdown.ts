import { type Agent, agent } from "../engine/agent/agent.ts";

/** Used if the message has no number. */
const DEFAULT_START = 10;
/** 50 minutes. */
const MAX_START = 3000;

/** Streams one number per second. It survives crashes without code of its own: sleeps are stored, and a yield is never written twice. */
export const countdown: Agent = agent({
  id: "countdown",
  name: "Countdown",
  description: "Counts down from the number in your message, one chunk per second. Continues after a restart.",
  version: "1.0.0",
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
  skills: [
    {
      id: "countdown",
      name: "Count down",
      description: `Counts down to zero from a number of up to ${MAX_START}. Can be canceled at any time.`,
      tags: ["demo", "streaming", "durable"],
      examples: ["10", "Count down from 60"],
    },
  ],
  async *run(task) {
    const start = Number(task.text.match(/\d+/)?.[0] ?? DEFAULT_START);
    if (start > MAX_START) return task.reject(`That would take too long: give me a number of up to ${MAX_START}.`);
    await task.status(`Counting down from ${start}`);
    for (let count = start; count > 0; count--) {
      yield `${count} `;
      await task.sleep(1000);
    }
    yield "Lift-off!";
  },
});
