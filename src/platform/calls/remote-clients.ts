import type { AgentClient } from "../../client/api.ts";
import { CallError } from "../../engine/call/call-error.ts";
import type { Outgoing, OutgoingOptions } from "../../outgoing/contract.ts";
import { CALLS } from "../../protocol/calls/ancestry.ts";

/** Clients of agents on other servers. */
export interface RemoteClients {
  /** The client for a URL. `given`: the author's own, which may have credentials; it is also used to cancel tasks later. */
  client(url: string, given?: AgentClient): Promise<AgentClient>;
  close(): void;
}

export interface RemoteClientsOptions {
  readonly outgoing: OutgoingOptions;
}

/** Clients that are kept; the oldest is dropped first. */
const MAX_KEPT = 200;
/** Milliseconds after which a card is read again. */
const KEPT_FOR = 5 * 60_000;

interface Kept {
  readonly client: Promise<AgentClient>;
  readonly until: number;
}

/** Requests to URLs are guarded by the server option `outgoing`; clients of the author are used as they are. */
export function createRemoteClients({ outgoing: rules }: RemoteClientsOptions): RemoteClients {
  const kept = new Map<string, Kept>();
  const given = new Map<string, AgentClient>();
  let outgoing: Outgoing | undefined;
  const open = async (url: string): Promise<AgentClient> => {
    const [{ createOutgoing }, { connect }] = await Promise.all([
      import("../../outgoing/create-outgoing.ts"),
      import("../../client/connect.ts"),
    ]);
    outgoing ??= createOutgoing({ ...rules, timeout: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY });
    const { check, fetch } = outgoing;
    try {
      check(url);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CallError(
        `The URL must not be called: ${why} The server option \`outgoing\` says which URLs may be called.`,
        {
          code: "call-blocked-url",
          cause,
        },
      );
    }
    const client = await connect(url, { fetch });
    const isOurs = client.card.capabilities.extensions?.some(({ uri }) => uri === CALLS) === true;
    // Such a server counts a message of a call once, whatever its option `idempotency` says.
    return isOurs ? connect(client.card, { fetch, resend: true }) : client;
  };
  return {
    client(url, own) {
      if (own !== undefined) {
        remember(given, url, own);
        return Promise.resolve(own);
      }
      const known = given.get(url);
      if (known !== undefined) return Promise.resolve(known);
      const before = kept.get(url);
      if (before !== undefined && before.until > Date.now()) return before.client;
      const client = open(url);
      remember(kept, url, { client, until: Date.now() + KEPT_FOR });
      client.catch(() => kept.delete(url));
      return client;
    },
    close: () => outgoing?.close(),
  };
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest);
}
