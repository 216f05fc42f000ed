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
  /** Tasks list their past states in their metadata. Only versions before 1.0 have this capability. */
  readonly stateTransitionHistory?: boolean;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  /** Security requirements of this skill, if they differ from those of the agent. */
  readonly security?: readonly SecurityRequirement[];
}

interface Described {
  readonly description?: string;
}

export interface OAuthFlow {
  readonly authorizationUrl?: string;
  readonly deviceAuthorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly refreshUrl?: string;
  readonly scopes: Readonly<Record<string, string>>;
  readonly pkceRequired?: boolean;
}

export const OAUTH_FLOWS = ["authorizationCode", "clientCredentials", "deviceCode", "implicit", "password"] as const;
export type OAuthFlowName = (typeof OAUTH_FLOWS)[number];

/** A security scheme in the form of OpenAPI. */
export type SecurityScheme = Described &
  (
    | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
    | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
    | {
        readonly type: "oauth2";
        readonly flows: Partial<Readonly<Record<OAuthFlowName, OAuthFlow>>>;
        readonly oauth2MetadataUrl?: string;
      }
    | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
    | { readonly type: "mutualTLS" }
  );

/** Scheme names with the required scopes; all schemes are required. In a list of requirements, any one is sufficient. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** An endpoint of an agent. `protocolVersion` is `Major.Minor`. */
export interface AgentInterface {
  readonly url: string;
  readonly binding: string;
  readonly protocolVersion: string;
  readonly tenant?: string;
}

/** An agent card, independent of the protocol version. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Preferred endpoint first. */
  readonly interfaces: readonly AgentInterface[];
  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  readonly security?: readonly SecurityRequirement[];
}
