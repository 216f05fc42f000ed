import type { AgentCapabilities, AgentSkill } from "../protocol/card.ts";
import type { A2AProtocolExtension } from "./types.ts";

/** A skill in an agent card. */
export type A2AAgentSkill = Omit<AgentSkill, "security">;

/** The agent card that the server sends to requests without a version, or the card of a program with registered MCP tools. It may have more members than these. */
export interface A2AAgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** URL for clients of 0.x. Absent if the server shows only cards of 1.0. */
  readonly url?: string;
  /** All endpoints in the form of 0.3. */
  readonly additionalInterfaces?: readonly { readonly url: string; readonly transport: string }[];
  /** All endpoints in the form of 1.0. */
  readonly supportedInterfaces?: readonly A2AAgentInterface[];
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly A2AAgentSkill[];
  /** Protocols beyond A2A, as registered with `registerMcpTools`. */
  readonly supportedProtocols?: readonly A2AProtocolExtension[];
}

interface A2AAgentInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
}
