import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { A2AError, createServer, type Principal, type ServerOptions } from "palaver";
import type { IncomingRequest } from "palaver/server";
import { nobody } from "../conformance/stage.ts";
import { peerAgents } from "./agents.ts";
import { Gates } from "./gates.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Size in bytes of the largest request that the server accepts. */
export const MAX_BODY_BYTES: number = 2 * 1024 * 1024;

/** The server for all clients: the real server, on a real socket, with a store in a file. */
export interface PeerServer {
  readonly url: string;
  readonly gates: Gates;
  close(): Promise<void>;
}

export async function startPeerServer(options: ServerOptions = {}): Promise<PeerServer> {
  const folder = mkdtempSync(join(tmpdir(), "palaver-peers-"));
  const gates = new Gates();
  const server = createServer(peerAgents(gates), {
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
  const { url } = await server.listen();
  return {
    url,
    gates,
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
