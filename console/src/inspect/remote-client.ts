import { type AgentClient, connect } from "palaver/client";
import { agentUrl, INSPECTED_ID } from "../app/place.ts";
import { createWireLog, type WireLog } from "../chat/wire-log.ts";
import { agentFetch } from "../data/agent-fetch.ts";

/** A connection to the inspected agent, and what is sent over it. */
export interface RemoteClient {
  readonly client: Promise<AgentClient>;
  readonly wire: WireLog;
}

/** Connects by the agent's card; every request is recorded. */
export function openRemote(): RemoteClient {
  const wire = createWireLog(agentFetch);
  return { wire, client: connect(agentUrl(INSPECTED_ID), { fetch: wire.fetch, cache: false }) };
}
