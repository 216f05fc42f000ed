import { A2AError, type Principal } from "palaver";
import type { IncomingRequest } from "palaver/server";
import { nobody } from "../conformance/test-server.ts";
import { serveAgents } from "../fixtures/nodes/serve-agents.ts";
import { Gates } from "../peers/gates.ts";
import { goldenAgents } from "./agents.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export interface GoldenServer {
  readonly url: string;
  readonly gates: Gates;
  close(): Promise<void>;
}

/** Starts the real server on a real socket. */
export async function startGoldenServer({ atOnce }: { readonly atOnce: boolean }): Promise<GoldenServer> {
  const gates = new Gates();
  const server = await serveAgents(goldenAgents(gates), {
    host: "127.0.0.1",
    port: 0,
    // Cards must not depend on the port.
    publicUrl: "https://agents.example.org",
    store: "memory:",
    drainTimeout: 0,
    logger: QUIET,
    outgoing: { lookup: nobody },
    authenticate,
    ...(!atOnce && { blockingDefault: { "0.1/jsonrpc": "wait" } }),
  });
  return { ...server, gates };
}

/** The guarded agent requires authentication, and refuses some callers. */
function authenticate({ headers, agent }: IncomingRequest): Principal | undefined {
  const id = /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (id === "mallory") throw new A2AError("permission-denied", "You may not");
  if (id !== undefined) return { id, anonymous: false };
  if (agent === "guarded") throw new A2AError("unauthenticated", "Say who you are");
  return undefined;
}
