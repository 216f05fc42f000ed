import { type Agent, type AgentDefinition, agent, type RunFunction, type ServerOptions, textOf } from "palaver";
import { serveAgents } from "../fixtures/nodes/serve-agents.ts";

/** Extensions that some of the agents declare. */
export const OFFERED = "https://example.org/extensions/offered/v1";
export const NEEDED = "https://example.org/extensions/needed/v2";

/** A server whose agents run the functions of the tests. */
export interface TestServer extends AsyncDisposable {
  /** The address of the first agent, the actor, without a trailing slash. */
  readonly url: string;
  /** The address of the agent with this id. */
  of(agent: AgentName): string;
  /** Returns the message text that makes the actor run this function. */
  textToRun(run: RunFunction): string;
}

const AGENT_NAMES = ["actor", "echo", "replier", "quiet", "discreet", "tactful", "needy", "picky", "mute"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Allows webhooks on this machine, with short timeouts. */
export const LOCAL_WEBHOOKS: Pick<ServerOptions, "outgoing" | "push"> = {
  outgoing: { http: true, allow: ["loopback"], lookup: nobody },
  push: { retries: 1, retryDelay: 1 },
};

/** Resolves no host name, so that tests call no other machine. */
export async function nobody(): Promise<readonly string[]> {
  throw new Error("There is no such host");
}

/** Accepts the caller's name without proof; callers without a name are anonymous. */
const authenticate: NonNullable<ServerOptions["authenticate"]> = ({ headers }) => {
  const id = /^Bearer (\w+)$/.exec(headers.get("authorization") ?? "")?.[1];
  return id === undefined ? undefined : { id, anonymous: false };
};

export async function openTestServer(options: ServerOptions = {}): Promise<TestServer> {
  const runs = new Map<string, RunFunction>();
  const { url, close } = await serveAgents(agentsOf(runs), {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: SILENT,
    authenticate,
    ...LOCAL_WEBHOOKS,
    ...options,
  });
  return {
    url,
    of: (name) => `${url}/agents/${name}`,
    textToRun(run) {
      const name = `run ${runs.size + 1}`;
      runs.set(name, run);
      return name;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The agents of a test server: the actor runs the functions of the tests, each other agent has one behaviour. */
export function agentsOf(runs: ReadonlyMap<string, RunFunction>): readonly Agent[] {
  const definitions: Readonly<Record<AgentName, Omit<AgentDefinition, "name">>> = {
    actor: {
      description: "Does what the test says.",
      version: "1.0.0",
      extensions: [{ uri: OFFERED, description: "Changes nothing." }],
      outputModes: ["*/*"],
      run(task) {
        const run = runs.get(task.text);
        if (run === undefined) throw new Error(`There is no function for the text ${task.text}`);
        return run(task);
      },
    },
    echo: {
      description: "Gives back what it is given.",
      version: "1.0.0",
      outputModes: ["*/*"],
      run: async (task) => task.message.parts,
    },
    replier: {
      description: "Answers at once, without a task.",
      version: "1.0.0",
      reply: ({ parts }) => `You said: ${textOf(parts)}`,
    },
    quiet: {
      description: "Does not stream.",
      version: "1.0.0",
      capabilities: { streaming: false },
      run: async (task) => task.text,
    },
    discreet: {
      description: "Shows half of what it can do.",
      version: "1.0.0",
      extendedCard: {
        description: "Shows all of what it can do.",
        skills: [{ id: "secret", name: "Secret", description: "For some.", tags: ["private"] }],
      },
      run: async (task) => task.caller.id,
    },
    tactful: {
      description: "Has more to show, but to nobody who asks.",
      version: "1.0.0",
      extendedCard: () => undefined,
      run: async (task) => task.text,
    },
    needy: {
      description: "Requires an extension.",
      version: "1.0.0",
      extensions: [{ uri: NEEDED, required: true }, { uri: OFFERED }],
      run: async (task) => task.text,
    },
    mute: {
      description: "Tells nobody anything unasked.",
      version: "1.0.0",
      capabilities: { pushNotifications: false },
      run: async (task) => task.text,
    },
    picky: {
      description: "Plain text and PNG pictures in, plain text out.",
      version: "1.0.0",
      inputModes: ["text/plain", "image/png"],
      outputModes: ["text/plain"],
      run: async (task) => task.text,
    },
  };
  return AGENT_NAMES.map((id) => agent({ id, name: id, ...definitions[id] }));
}
