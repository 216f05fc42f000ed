// The agent card in the neutral model. The codecs in `wire/` translate it: 1.0 wraps security schemes, 0.x has flat ones and one main URL.

import type { JsonObject } from "./json.ts";

/** The organization that operates the agent (A2A 1.0 §4.4.2). */
export interface AgentProvider {
  readonly organization: string;
  /** The organization's web site. */
  readonly url: string;
}

/** An extension that the agent supports (A2A 1.0 §4.4.4). */
export interface AgentExtension {
  /** Identifies the extension and its version; a breaking change needs a new URI (A2A 1.0 §4.6.3). */
  readonly uri: string;
  readonly description?: string;
  /** Callers that do not activate the extension get `extension-support-required`. Default: false. */
  readonly required?: boolean;
  /** Settings of the extension; their format is defined by the extension. */
  readonly params?: JsonObject;
}

/** Optional features. Absent means false, except in a signature: it distinguishes an absent flag from `false` (A2A 1.0 §8.4.1). */
export interface AgentCapabilities {
  /** `stream` and `subscribe` work. Without it callers poll. */
  readonly streaming?: boolean;
  /** Webhooks work. */
  readonly pushNotifications?: boolean;
  /** Extensions that callers may activate. */
  readonly extensions?: readonly AgentExtension[];
  /** Authenticated callers can request a card with more details. */
  readonly extendedAgentCard?: boolean;
  /** Tasks list their past states in their metadata. Only versions before 1.0 have this capability. */
  readonly stateTransitionHistory?: boolean;
}

/** One ability of an agent (A2A 1.0 §4.4.5). A skill is a description: callers send messages to the agent, not to a skill. */
export interface AgentSkill {
  /** Unique within the agent. Palaver's callers may select the skill with it (`metadata.skillId`). */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Words for searching, such as `translation`. */
  readonly tags: readonly string[];
  /** Messages that the skill handles, for people who try it. */
  readonly examples?: readonly string[];
  /** Media types that the skill accepts. Absent: `defaultInputModes` of the card. */
  readonly inputModes?: readonly string[];
  /** Media types that the skill produces. Absent: `defaultOutputModes` of the card. */
  readonly outputModes?: readonly string[];
  /** Security requirements of this skill, if they differ from those of the agent. */
  readonly security?: readonly SecurityRequirement[];
}

interface Described {
  readonly description?: string;
}

/** The URLs of one OAuth flow. Which of them are present depends on the flow (A2A 1.0 §4.5.7). */
export interface OAuthFlow {
  readonly authorizationUrl?: string;
  readonly deviceAuthorizationUrl?: string;
  readonly tokenUrl?: string;
  /** Where tokens are refreshed. Absent: at `tokenUrl`. */
  readonly refreshUrl?: string;
  /** Descriptions by scope name. */
  readonly scopes: Readonly<Record<string, string>>;
  /** The authorization server accepts only requests with PKCE (RFC 7636). Only 1.0 has this member. */
  readonly pkceRequired?: boolean;
}

/** The flows in the order of preference. 1.0 has room for one flow per scheme, and the first declared one in this order is written. */
export const OAUTH_FLOWS = ["authorizationCode", "clientCredentials", "deviceCode", "implicit", "password"] as const;
/** The OAuth 2 flows that a card can name, as in OpenAPI and in addition the device flow (RFC 8628). */
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
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of a custom binding (A2A 1.0 §5.8). */
  readonly binding: string;
  readonly protocolVersion: string;
  /** Clients that use this endpoint must send exactly this tenant, and none if it is absent (A2A 1.0 §8.3.2). */
  readonly tenant?: string;
}

/** An agent card, independent of the protocol version. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  /** The version of the agent, chosen by its author. Not the protocol version. */
  readonly version: string;
  /** Preferred endpoint first. */
  readonly interfaces: readonly AgentInterface[];
  readonly provider?: AgentProvider;
  /** An image for people. */
  readonly iconUrl?: string;
  /** A page for people. */
  readonly documentationUrl?: string;
  readonly capabilities: AgentCapabilities;
  /** Media types that the agent accepts, for skills without their own list. */
  readonly defaultInputModes: readonly string[];
  /** Media types that the agent produces, for skills without their own list. */
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  /** Schemes by name; `security` refers to these names. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** Alternatives: a caller must satisfy one of the requirements. Absent: the card requires none. */
  readonly security?: readonly SecurityRequirement[];
}
