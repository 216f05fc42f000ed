import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { A2AError, type Agent, type Principal, type ServerOptions } from "palaver";
import type { IncomingRequest } from "palaver/server";
import { nobody } from "../conformance/test-server.ts";
import { type Served, serveAgents } from "../fixtures/nodes/serve-agents.ts";
import { peerAgents } from "./agents.ts";
import { Gates } from "./gates.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Size in bytes of the largest request that the server accepts. */
export const MAX_BODY_BYTES: number = 2 * 1024 * 1024;

/** The server for all clients: the real server, on a real socket, with a store in a file. */
export interface PeerServer {
  readonly url: string;
  readonly gates: Gates;
  /** The URL of a server with the same agents whose first agent is this one. */
  rootOf(agent: string): Promise<string>;
  close(): Promise<void>;
}

export async function startPeerServer(options: ServerOptions = {}): Promise<PeerServer> {
  const gates = new Gates();
  const agents = peerAgents(gates);
  const main = await start(agents, options);
  const roots = new Map<string, Promise<Served>>();
  return {
    url: main.url,
    gates,
    async rootOf(id) {
      const isFirst = agents[0]?.id === id;
      const root = roots.get(id) ?? (isFirst ? Promise.resolve(main) : start(sorted(agents, id), options));
      roots.set(id, root);
      return (await root).url;
    },
    async close() {
      for (const root of await Promise.all(roots.values())) if (root !== main) await root.close();
      await main.close();
    },
  };
}

/** With this agent first. */
function sorted(agents: readonly Agent[], id: string): readonly Agent[] {
  return [...agents.filter((agent) => agent.id === id), ...agents.filter((agent) => agent.id !== id)];
}

async function start(agents: readonly Agent[], options: ServerOptions): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "palaver-peers-"));
  const server = await serveAgents(agents, {
    port: 0,
    host: "127.0.0.1",
    store: `sqlite:${join(folder, "peers.db")}`,
    durability: "process",
    drainTimeout: 0,
    logger: QUIET,
    outgoing: { http: true, allow: ["loopback"], lookup: nobody },
    push: { retryDelay: 1 },
    limits: { maxBodyBytes: MAX_BODY_BYTES },
    authenticate,
    ...options,
  });
  return {
    url: server.url,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `Authorization: Bearer NAME` authenticates the caller NAME; one name is refused. */
function authenticate({ headers, agent }: IncomingRequest): Principal | undefined {
  const id = /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (id === "banned") throw new A2AError("permission-denied", "You are not welcome here");
  if (id !== undefined) return { id, anonymous: false };
  if (agent === "guarded") throw new A2AError("unauthenticated", "Say who you are");
  return undefined;
}
