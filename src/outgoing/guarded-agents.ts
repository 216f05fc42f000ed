import { lookup as lookUp } from "node:dns/promises";
import { type ClientRequestArgs, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type { Lookup } from "./contract.ts";
import { OutgoingFailure, OutgoingRefused } from "./errors.ts";
import { bareHost, type Rules } from "./rules.ts";

/** How connections are made. `lookup` defaults to the system's resolver, `ca` to the authorities that Node trusts. */
export interface GuardedAgentsOptions {
  readonly rules: Rules;
  /** Milliseconds that opening a connection may take. */
  readonly connectTimeout: number;
  readonly maxSockets: number;
  readonly lookup?: Lookup | undefined;
  readonly ca?: string | undefined;
}

/** Connection pools by scheme. */
export interface GuardedAgents {
  readonly "http:": HttpAgent;
  readonly "https:": HttpsAgent;
}

/** Idle connections are closed after this many milliseconds. */
const IDLE_MS = 5_000;
/** Idle connections kept per origin. */
const MAX_IDLE_PER_ORIGIN = 2;
/** Connections over all origins, in use or idle. */
const MAX_SOCKETS = 512;

/**
 * Node agents that connect only to allowed addresses. A host name is resolved once per connection, every address of it must be allowed, and
 * the connection goes to one of these addresses. A reused connection is still to the same address. Proxies from environment variables are
 * ignored.
 */
export function createGuardedAgents(options: GuardedAgentsOptions): GuardedAgents {
  const { rules, lookup = systemLookup, maxSockets, connectTimeout } = options;
  const settings = {
    keepAlive: true,
    maxSockets,
    maxTotalSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_IDLE_PER_ORIGIN,
    scheduling: "lifo",
    timeout: IDLE_MS,
    ...(options.ca !== undefined && { ca: options.ca }),
  } as const;
  const watch = (socket: Duplex | null | undefined, target: Target, ready: string): void => {
    // Safe: without a custom `createConnection`, agents create sockets.
    if (socket != null) watchSocket(socket as Socket, { rules, target, connectTimeout, ready });
  };
  const http = new HttpAgent(settings);
  const connectHttp = http.createConnection.bind(http);
  http.createConnection = (connection, callback) => {
    const target = targetOf(connection);
    const socket = connectHttp({ ...connection, lookup: guardLookup(rules, lookup, target) }, callback);
    watch(socket, target, "connect");
    return socket;
  };
  const https = new HttpsAgent({ ...settings, minVersion: "TLSv1.2" });
  const connectHttps = https.createConnection.bind(https);
  https.createConnection = (connection, callback) => {
    const target = targetOf(connection);
    const socket = connectHttps({ ...connection, lookup: guardLookup(rules, lookup, target) }, callback);
    watch(socket, target, "secureConnect");
    return socket;
  };
  return { "http:": http, "https:": https };
}

/** The target of a connection. */
interface Target {
  readonly hostname: string;
  readonly port: number;
}

function targetOf({ host, port }: ClientRequestArgs): Target {
  return { hostname: bareHost((host ?? "").toLowerCase()), port: Number(port) };
}

/** All addresses, in the order of the resolver. */
async function systemLookup(hostname: string): Promise<readonly string[]> {
  const found = await lookUp(hostname, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
}

/** One forbidden address refuses the whole name: such a record is an attack or a mistake. */
function guardLookup(rules: Rules, lookup: Lookup, { hostname, port }: Target): LookupFunction {
  const find = callbackify(async () => {
    const addresses = await lookup(hostname);
    if (addresses.length === 0) throw new OutgoingFailure("unreachable", `${hostname} has no IP address.`);
    if (!addresses.every((address) => rules.mayReach(hostname, address, port))) throw refusedAddress(hostname);
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });
  return (_name, { all }, callback) => {
    find((error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error, []);
      else if (all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

/** What a new connection is checked against. */
export interface WatchOptions {
  readonly rules: Rules;
  readonly target: Target;
  readonly connectTimeout: number;
  /** The event after which the socket is writable. */
  readonly ready: string;
}

/** Checks the socket's actual address again before anything is written, and closes a socket that connects too slowly. */
export function watchSocket(socket: Socket, { rules, target, connectTimeout, ready }: WatchOptions): void {
  const { hostname, port } = target;
  socket.prependOnceListener("connect", () => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !rules.mayReach(hostname, remoteAddress, port)) {
      socket.destroy(refusedAddress(hostname));
    }
  });
  const late = setTimeout(() => {
    socket.destroy(new OutgoingFailure("timeout", `${hostname} did not accept the connection in time.`));
  }, connectTimeout);
  const done = (): void => clearTimeout(late);
  socket.once(ready, done).once("close", done);
}

function refusedAddress(hostname: string): OutgoingRefused {
  return new OutgoingRefused(
    "private-address",
    `${hostname} is not allowed: its address is not on the public internet.`,
  );
}
