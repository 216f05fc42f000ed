import type { RemoteAgent } from "../../client/api.ts";
import type { CredentialSet } from "../../client/credentials/contract.ts";
import type { AgentReference } from "../options/agent-reference.ts";

/** How an agent is to be reached, as a command line says it. */
export interface ConnectRequest {
  readonly reference: AgentReference;
  /** Preferred bindings, best first; what the card prefers where it offers none of them. */
  readonly bindings: readonly string[];
  /** The version to speak. Absent: the best that both know, but none from before the protocol was stable; `any`: that too. */
  readonly version?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What there is to show to agents that want to know who calls. */
  readonly credentials?: CredentialSet;
  readonly pollInterval: number;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** What is wrong with a card, in sentences. */
export interface ReadCard {
  readonly problems: readonly string[];
}

/** The ways from a command line to an agent. */
export interface Connect {
  (request: ConnectRequest): Promise<RemoteAgent>;
  /** The card alone, whatever is wrong with it. */
  readCard(request: ConnectRequest): Promise<ReadCard>;
}
