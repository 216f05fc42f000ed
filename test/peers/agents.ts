import { type Agent, agent, textOf } from "palaver";
import type { Gates } from "./gates.ts";

export const EXTENSIONS = {
  offered: "https://example.org/extensions/offered",
  required: "https://example.org/extensions/required",
} as const;

/** The agents that the clients call, each made for some of the scenarios. The first is also at the root. */
export function peerAgents(gates: Gates): readonly Agent[] {
  return [echo, paced(gates), asking, mirror, unhappy, plain, quiet, discreet, guarded, demanding, narrow(gates)];
}

const skill = (id: string) => ({ id, name: id, description: `What ${id} does.`, tags: ["peers"] });

/** Returns its input: as a task, or as a bare message if the text starts with `message:`. */
const echo = agent({
  id: "echo",
  name: "Echo",
  description: "Gives back what it is given.",
  version: "1.2.3",
  provider: { organization: "Example", url: "https://example.org" },
  inputModes: ["text/plain", "*/*"],
  outputModes: ["text/plain", "*/*"],
  skills: [skill("echo"), skill("repeat")],
  extensions: [{ uri: EXTENSIONS.offered, description: "Changes nothing." }],
  reply(message) {
    const text = textOf(message.parts);
    return text.startsWith("message:") ? text.slice("message:".length).trim() : undefined;
  },
  async run(task) {
    return task.message.parts;
  },
});

/**
 * Writes one, two, three; waits before two at the gate that the message names, and before three at that name with a
 * `!`.
 */
function paced(gates: Gates): Agent {
  return agent({
    id: "paced",
    name: "Paced",
    description: "Goes on when it is let.",
    version: "1.0.0",
    skills: [skill("paced")],
    async *run(task) {
      await task.status("Counting");
      yield "one ";
      await gates.pass(task.text, task.signal);
      yield "two ";
      await gates.pass(`${task.text}!`, task.signal);
      yield "three";
    },
  });
}

/** Asks two questions and ends with the answers as data; rejects the place "nowhere". */
const asking = agent({
  id: "asking",
  name: "Asking",
  description: "Asks where and when.",
  version: "1.0.0",
  skills: [skill("asking")],
  async run(task) {
    const where = await task.ask("Where?");
    const when = await task.ask("When?");
    if (where === "nowhere") return task.reject("There is no weather nowhere.");
    return { where, when };
  },
});

/** Returns what it received, in an artifact with all members that an artifact can have. */
const mirror = agent({
  id: "mirror",
  name: "Mirror",
  description: "Tells what it sees.",
  version: "1.0.0",
  skills: [skill("mirror")],
  outputModes: ["application/json", "text/plain", "text/markdown"],
  async run(task) {
    const { message, metadata, outputModes, history, contextId, tenant, caller } = task;
    const seen = {
      metadata,
      messageMetadata: message.metadata ?? null,
      partMetadata: message.parts[0]?.metadata ?? null,
      outputModes,
      referenceTaskIds: message.referenceTaskIds ?? [],
      messages: history.length,
      contextId,
      tenant,
      caller: caller.id,
    };
    await task
      .artifact("seen", { description: "What reached the agent", metadata: { made: "by the mirror" } })
      .end({ data: seen, metadata: { kind: "mirror image" } });
    if (task.text === "list") await task.artifact("list").end({ data: [1, "two", null, { three: 3 }] });
  },
});

/** Fails in the way that the message names. */
const unhappy = agent({
  id: "unhappy",
  name: "Unhappy",
  description: "Does not succeed.",
  version: "1.0.0",
  skills: [skill("unhappy")],
  reply(message) {
    if (textOf(message.parts) === "reply") throw new Error("a secret");
    return undefined;
  },
  async run(task) {
    if (task.text === "reject") return task.reject("Not with me.");
    throw new Error("a secret");
  },
});

/** Reads and writes only plain text, and has no webhooks. */
const plain = agent({
  id: "plain",
  name: "Plain",
  description: "Plain text only.",
  version: "1.0.0",
  capabilities: { pushNotifications: false },
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
  skills: [skill("plain")],
  run: async (task) => task.text,
});

const quiet = agent({
  id: "quiet",
  name: "Quiet",
  description: "Does not stream.",
  version: "1.0.0",
  capabilities: { streaming: false },
  skills: [skill("quiet")],
  run: async (task) => task.text,
});

const secured = {
  securitySchemes: {
    bearer: { type: "http", scheme: "bearer", bearerFormat: "opaque" },
    key: { type: "apiKey", in: "header", name: "X-Key" },
    oidc: { type: "openIdConnect", openIdConnectUrl: "https://example.org/.well-known/openid-configuration" },
    oauth: {
      type: "oauth2",
      flows: { clientCredentials: { tokenUrl: "https://example.org/token", scopes: { talk: "To talk" } } },
    },
    certificate: { type: "mutualTLS" },
  },
  security: [{ bearer: [] }, { oauth: ["talk"], key: [] }],
} as const;

/** Has an extended card with more details than its public card. */
const discreet = agent({
  id: "discreet",
  name: "Discreet",
  description: "Shows half of what it can do.",
  version: "1.0.0",
  ...secured,
  skills: [skill("public")],
  extendedCard: { description: "Shows all of what it can do.", skills: [skill("public"), skill("private")] },
  run: async (task) => task.caller.id,
});

/** Only for authenticated callers: the server's authenticator checks that. */
const guarded = agent({
  id: "guarded",
  name: "Guarded",
  description: "For known callers.",
  version: "1.0.0",
  ...secured,
  skills: [skill("guarded")],
  run: async (task) => task.caller.id,
});

const demanding = agent({
  id: "demanding",
  name: "Demanding",
  description: "Requires an extension.",
  version: "1.0.0",
  extensions: [{ uri: EXTENSIONS.required, required: true }],
  skills: [skill("demanding")],
  run: async (task) => task.text,
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
    skills: [skill("narrow")],
    async run(task) {
      await gates.pass(task.text, task.signal);
      return "done";
    },
  });
}
