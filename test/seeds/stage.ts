import {
  type Agent,
  type AgentDefinition,
  agent,
  createServer,
  type RunFunction,
  type Server,
  type ServerOptions,
} from "palaver";

import { nobody } from "../conformance/stage.ts";

/** A server of scripted agents, on a port of its own. */
export interface Stage extends AsyncDisposable {
  /** Where the first agent is; without a slash at the end. */
  readonly url: string;
  /** Where the agent of this id is. */
  of(id: string): string;
  readonly server: Server;
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export async function serveAgents(agents: Agent | readonly Agent[], options: ServerOptions = {}): Promise<Stage> {
  const server = createServer(agents, {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: SILENT,
    outgoing: { http: true, allow: ["loopback"], lookup: nobody },
    push: { retryDelay: 1 },
    ...options,
  });
  const { url } = await server.listen();
  return { url, server, of: (id) => `${url}/agents/${id}`, [Symbol.asyncDispose]: () => server.close() };
}

/** An agent that does as its script says. */
export function scripted(run: RunFunction, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ name: "Scripted", description: "Does as its script says.", version: "1.0.0", run, ...more });
}

/** Serves one agent that does as its script says. */
export function serveScript(
  run: RunFunction,
  more: Partial<AgentDefinition> = {},
  options: ServerOptions = {},
): Promise<Stage> {
  return serveAgents(scripted(run, more), options);
}
