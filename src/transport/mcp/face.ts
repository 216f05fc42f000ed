import type { A2AError } from "../../protocol/error.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { Service } from "../../server/service.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import type { Mount } from "../router.ts";
import type { McpSettings } from "./contract.ts";

/** The agents that one MCP path serves, and how. */
export interface McpFace {
  readonly endpoint: Endpoint;
  readonly settings: McpSettings;
  /** Ids of the agents, in the order of their tools. */
  readonly agents: readonly string[];
  /** The agent with this id. */
  mount(id: string): Mount | undefined;
}

/** One request of an MCP client. */
export interface McpRequest {
  readonly face: McpFace;
  readonly exchange: Exchange;
  /** Version and binding, for the log: `mcp/http` or `mcp/stdio`. */
  readonly dialect: string;
  /** The caller, as authenticated for this agent. Rejects with `unauthenticated` and so on. */
  callerOf(agent: string): Promise<Principal>;
  /** Identifies the caller among those that are accepted for any agent. */
  readonly principal: Principal;
  /** Why the call was refused, if the HTTP status must say so. Set while the request is answered. */
  refusal: A2AError | undefined;
}

/** The agent with this id at the path of the request; `undefined` if the path does not serve it. */
export function serviceOf({ face, exchange }: McpRequest, agent: string): Service | undefined {
  return face.agents.includes(agent) ? face.mount(agent)?.(exchange) : undefined;
}
