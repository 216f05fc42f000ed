import type { JsonObject } from "./json.ts";

export interface AgentProvider {
  readonly organization: string;
  readonly url: string;
}

export interface AgentExtension {
  readonly uri: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly params?: JsonObject;
}

export interface AgentCapabilities {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  readonly extensions?: readonly AgentExtension[];
  readonly extendedAgentCard?: boolean;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}

/** Where and how an agent is reached. `protocolVersion` is `Major.Minor`. */
export interface AgentInterface {
  readonly url: string;
  readonly binding: string;
  readonly protocolVersion: string;
  readonly tenant?: string;
}

/** What an agent says of itself, in no version's spelling. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Ordered, preferred first. */
  readonly interfaces: readonly AgentInterface[];
  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
}
