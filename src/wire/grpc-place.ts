/** How gRPC requests name an agent. */
export interface GrpcName {
  /** The agent's id. Absent: the first agent, which requests need not name. */
  readonly agent?: string | undefined;
}

/** The address of a gRPC server, as clients expect it: `host:port`. */
export function hostAndPort(base: string): string {
  const url = URL.parse(base);
  if (url === null) return base;
  return url.port === "" ? `${url.hostname}:${url.protocol === "https:" ? 443 : 80}` : url.host;
}

/**
 * gRPC has no paths, so requests of 1.0 name one of several agents by a tenant of this form. It may be followed by a slash and a tenant of
 * the caller's own.
 */
const PREFIX = "agents/";

/** The tenant that names an agent. */
export function agentTenant(agent: string): string {
  return PREFIX + agent;
}

export interface NamedAgent {
  readonly agent: string;
  /** The caller's own tenant; empty if there is none. */
  readonly tenant: string;
}

/** The agent that a tenant names; `undefined` if it names none. */
export function agentOfTenant(tenant: string): NamedAgent | undefined {
  if (!tenant.startsWith(PREFIX)) return undefined;
  const end = tenant.indexOf("/", PREFIX.length);
  if (end === -1) return { agent: tenant.slice(PREFIX.length), tenant: "" };
  return { agent: tenant.slice(PREFIX.length, end), tenant: tenant.slice(end + 1) };
}
