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
  /** Tasks carry the states they have been in, in their metadata. Only early versions can declare this. */
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
  /** What this skill requires, where that differs from the agent. */
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

/** A way to authenticate, spelt as OpenAPI does. */
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

/** Schemes that must all be met, by name, each with the scopes it needs. A list of these is met by any one of them. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

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
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  readonly security?: readonly SecurityRequirement[];
}
