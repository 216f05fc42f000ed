import type { AgentClient } from "../../client/api.ts";
import type { CredentialSet } from "../../client/credentials/contract.ts";
import type { Send } from "../../client/http/send.ts";
import type { AgentReference } from "../options/agent-reference.ts";

/** How to call an agent, from the command line's settings. */
export interface ConnectRequest {
  readonly reference: AgentReference;
  /** Preferred bindings, best first. If the card offers none of them, its own order counts. */
  readonly bindings: readonly string[];
  /** Protocol version. Absent: the newest that both sides support. `any`: the first in the card. */
  readonly version?: string;
  /** Service parameters, sent with every request (A2A 1.0 §3.2.6). */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's credentials. */
  readonly credentials?: CredentialSet;
  /** Milliseconds between polls, at first. */
  readonly pollInterval: number;
  readonly send: Send;
  readonly signal: AbortSignal;
}

/** The problems of a card, as sentences. */
export interface ReadCard {
  readonly problems: readonly string[];
}

/** How commands reach agents. */
export interface Connect {
  (request: ConnectRequest): Promise<AgentClient>;
  /** Reads the card only, even if it is invalid. */
  readCard(request: ConnectRequest): Promise<ReadCard>;
}
