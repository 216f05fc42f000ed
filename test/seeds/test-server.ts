import {
  type Agent,
  type AgentDefinition,
  agent,
  createServer,
  type RunFunction,
  type Server,
  type ServerOptions,
} from "palaver";

import { nobody } from "../conformance/test-server.ts";

/** A server of scripted agents, on its own port. */
export interface TestServer extends AsyncDisposable {
  /** The address of the first agent, without a trailing slash. */
  readonly url: string;
  /** The address of the agent with this id. */
  of(id: string): string;
  readonly server: Server;
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export async function serveAgents(agents: Agent | readonly Agent[], options: ServerOptions = {}): Promise<TestServer> {
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

/** An agent that runs the given function. */
export function scripted(run: RunFunction, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ name: "Scripted", description: "Does as its script says.", version: "1.0.0", run, ...more });
}

/** Serves one agent that runs the given function. */
export function serveScript(
  run: RunFunction,
  more: Partial<AgentDefinition> = {},
  options: ServerOptions = {},
): Promise<TestServer> {
  return serveAgents(scripted(run, more), options);
}
