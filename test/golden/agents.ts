import { type Agent, agent, skill } from "palaver";
import * as v from "valibot";
import type { Gates } from "../peers/gates.ts";

/** The agents of the golden exchanges. */
export function goldenAgents(gates: Gates): readonly Agent[] {
  return [
    echo,
    asking,
    waiting(gates),
    counting(gates),
    clerk,
    greeter,
    rejecting,
    quiet,
    plain,
    guarded,
    discreet,
    narrow(gates),
  ];
}

/** Returns its input. */
const echo = agent({
  id: "echo",
  name: "Echo",
  description: "Gives back what it is given.",
  version: "1.2.3",
  provider: { organization: "Example", url: "https://example.org" },
  documentationUrl: "https://example.org/echo",
  inputModes: ["text/plain", "application/json", "image/png"],
  outputModes: ["text/plain", "application/json", "image/png"],
  skills: [
    { id: "echo", name: "Echo", description: "Says it again.", tags: ["words"], examples: ["Hello"] },
    { id: "draw", name: "Draw", description: "Shows it again.", tags: ["pictures"], outputModes: ["image/png"] },
  ],
  run: async (task) => task.message.parts,
});

const asking = agent({
  id: "asking",
  name: "Asking",
  description: "Wants to know where to.",
  version: "1.0.0",
  async run(task) {
    const place = await task.ask("Where to?");
    return `Booked: ${place}`;
  },
});

/** Answers when its gate opens; the message names the gate. */
function waiting(gates: Gates): Agent {
  return agent({
    id: "waiting",
    name: "Waiting",
    description: "Takes its time.",
    version: "1.0.0",
    async run(task) {
      await gates.pass(task.text, task.signal);
      return "Done.";
    },
  });
}

/** Counts to three in two artifacts; waits before two until the gate opens that the message names. */
function counting(gates: Gates): Agent {
  return agent({
    id: "counting",
    name: "Counting",
    description: "Counts to three.",
    version: "1.0.0",
    async run(task) {
      await task.status("Counting");
      const numbers = task.artifact("numbers");
      await numbers.write("one ");
      await task.flush();
      await gates.pass(task.text, task.signal);
      await numbers.write("two ");
      await numbers.end("three");
      await task.artifact("total", { description: "How far it got" }).end({ data: { total: 3 } });
    },
  });
}

/** Has two skills and no handler for other messages. */
const clerk = agent({
  id: "clerk",
  name: "Clerk",
  description: "Adds or greets.",
  version: "1.0.0",
  skills: [
    skill({
      id: "add",
      name: "Add",
      description: "Adds two numbers.",
      tags: ["numbers"],
      input: v.object({ a: v.number(), b: v.number() }),
      run: async (task) => String(task.data.a + task.data.b),
    }),
    skill({
      id: "greet",
      name: "Greet",
      description: "Greets whoever is named.",
      tags: ["words"],
      input: v.object({ name: v.string() }),
      run: async (task) => `Hello, ${task.data.name}!`,
    }),
  ],
});

/** Answers with a message and creates no tasks. */
const greeter = agent({
  id: "greeter",
  name: "Greeter",
  description: "Greets.",
  version: "1.0.0",
  reply: () => "Hello there!",
});

const rejecting = agent({
  id: "rejecting",
  name: "Rejecting",
  description: "Does nothing for anybody.",
  version: "1.0.0",
  async run(task) {
    if (task.text === "break") throw new Error("a secret");
    if (task.text === "pay") await task.requireAuth("Say that you may pay.");
    return task.reject("Not with me.");
  },
});

const quiet = agent({
  id: "quiet",
  name: "Quiet",
  description: "Does not stream, and tells nobody anything unasked.",
  version: "1.0.0",
  capabilities: { streaming: false, pushNotifications: false },
  run: async (task) => task.text,
});

const plain = agent({
  id: "plain",
  name: "Plain",
  description: "Plain text only.",
  version: "1.0.0",
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
  run: async (task) => task.text,
});

const guarded = agent({
  id: "guarded",
  name: "Guarded",
  description: "For known callers.",
  version: "1.0.0",
  securitySchemes: {
    token: { type: "http", scheme: "bearer" },
    key: { type: "apiKey", in: "header", name: "X-Key" },
  },
  security: [{ token: [] }, { key: [] }],
  run: async (task) => task.caller.id,
});

const open = { id: "open", name: "Open", description: "For all.", tags: ["words"] };

/** Has an extended card with more details than its public card. */
const discreet = agent({
  id: "discreet",
  name: "Discreet",
  description: "Shows half of what it can do.",
  version: "1.0.0",
  securitySchemes: { token: { type: "http", scheme: "bearer" } },
  security: [{ token: [] }],
  skills: [open],
  extendedCard: {
    description: "Shows all of what it can do.",
    skills: [open, { id: "secret", name: "Secret", description: "For some.", tags: ["words"] }],
  },
  run: async (task) => task.caller.id,
});

/** Runs one task at a time and queues none. */
function narrow(gates: Gates): Agent {
  return agent({
    id: "narrow",
    name: "Narrow",
    description: "One at a time.",
    version: "1.0.0",
    concurrency: 1,
    queue: 0,
    async run(task) {
      await gates.pass(task.text, task.signal);
      return "done";
    },
  });
}
