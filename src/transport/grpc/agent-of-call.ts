import { invalidField } from "../../protocol/error.ts";
import type { Service } from "../../server/service.ts";
import type { GrpcFamily } from "../../wire/grpc-codec.ts";
import { agentOfTenant } from "../../wire/grpc-place.ts";
import type { Exchange } from "../exchange.ts";
import type { Mount } from "../router.ts";

/** The agent with an id; without an id, the first agent. `undefined` for an unknown id. */
export type AgentById = (id: string | undefined) => Mount | undefined;

/** The agent that the headers name: before 1.0 by the first label of the host name. Default: the first agent. */
export function agentOfHeaders({ agentBy }: GrpcFamily, exchange: Exchange, agent: AgentById): Service {
  const [label, rest] = agentBy === "authority" ? (exchange.header("host") ?? "").split(".", 2) : [];
  const mount = (rest === undefined ? undefined : agent(label)) ?? firstAgent(agent);
  return mount(exchange);
}

/** The agent of calls that name none. */
export function firstAgent(agent: AgentById): Mount {
  const mount = agent(undefined);
  if (mount === undefined) throw new Error("The server has no agent.");
  return mount;
}

interface Addressed {
  readonly service: Service;
  /** The tenant without the agent's name. */
  readonly tenant: string;
}

/** The agent that a tenant names; `undefined` if it names none. Throws for an unknown agent. */
export function agentOfMessage(tenant: string, exchange: Exchange, agent: AgentById): Addressed | undefined {
  const named = agentOfTenant(tenant);
  if (named === undefined) return undefined;
  const mount = agent(named.agent);
  if (mount === undefined) throw invalidField("tenant", "names no agent of this server");
  return { service: mount(exchange), tenant: named.tenant };
}
