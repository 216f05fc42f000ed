import type { AgentCapabilities, AgentProvider, AgentSkill } from "../../protocol/card.ts";

/**
 * What an agent card says that an agent may declare, in the spelling of any version. Where it is served is the server's to say,
 * and not taken from it; how it is served, it must be able to keep to.
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

/** What a card promises that is not for its agent to keep but for the server. */
export interface CardPromises {
  readonly interfaces: readonly PromisedInterface[];
  readonly isSigned: boolean;
}

export interface PromisedInterface {
  /** Where the card says so. */
  readonly field: string;
  readonly binding: string;
  readonly protocolVersion: string | undefined;
}
