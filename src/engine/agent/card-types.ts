import type { AgentCapabilities, AgentProvider, AgentSkill } from "../../protocol/card.ts";

/**
 * An agent card of any protocol version, as input for `agent()`. Its URLs are ignored: the server decides where the agent is served. Its protocol
 * versions and bindings must be supported by the server.
 */
export interface DeclaredCard {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  readonly defaultInputModes?: readonly string[];
  readonly defaultOutputModes?: readonly string[];
  readonly capabilities?: AgentCapabilities;
  readonly skills?: readonly (AgentSkill & { readonly securityRequirements?: readonly object[] })[];
  readonly securitySchemes?: Readonly<Record<string, object>>;
  readonly security?: readonly object[];
  readonly securityRequirements?: readonly object[];
  readonly supportsAuthenticatedExtendedCard?: boolean;
  readonly supportsExtendedAgentCard?: boolean;
  readonly supportedInterfaces?: readonly object[];
  readonly url?: string;
  readonly preferredTransport?: string;
  readonly protocolVersion?: string;
  readonly additionalInterfaces?: readonly object[];
  readonly signatures?: readonly object[];
}

/** Statements of a card that the server, not the agent, must fulfil. */
export interface CardPromises {
  readonly interfaces: readonly PromisedInterface[];
  readonly isSigned: boolean;
}

export interface PromisedInterface {
  /** The member of the card, for error messages. */
  readonly field: string;
  readonly binding: string;
  readonly protocolVersion: string | undefined;
}
