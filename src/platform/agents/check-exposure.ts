import type { Agent } from "../../engine/agent/agent.ts";
import type { Security } from "../../server/security.ts";
import { isLoopback } from "../local-names.ts";
import { StartupError } from "../startup-error.ts";

/** Who can reach the server, and whether it knows its callers. */
export interface Exposure {
  /** The address that the server listens on. */
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly unknown[];
  /** The server has an `authenticate` function of its own. */
  readonly authenticates: boolean;
  readonly security: Security | undefined;
}

/**
 * Throws a {@link StartupError} if an agent runs programs on this machine and callers on other machines could use it without authentication. A server that
 * is mounted in another application is not checked further: only that application knows who can reach it.
 */
export function checkExposure(agents: readonly Agent[], exposure: Exposure): void {
  if (isLocal(exposure) || exposure.authenticates) return;
  const open = agents.filter((agent) => agent.startsPrograms === true && isOpen(agent, exposure.security));
  if (open.length === 0) return;
  const names = open.map(({ id }) => JSON.stringify(id)).join(", ");
  throw new StartupError(
    "usage",
    [
      `Agents that run programs on this machine (${names}) could be called from other machines without authentication.`,
      "Require it (`security`, or --api-keys), or listen on 127.0.0.1 without a public URL and without trusted proxies.",
    ].join("\n"),
  );
}

/** A public URL or a proxy means that others reach the server, although it listens on the loopback address. */
function isLocal({ host, publicUrl, trustedProxies }: Exposure): boolean {
  const isNamedLocal = publicUrl === undefined || isLocalUrl(publicUrl);
  return isLoopback(host) && trustedProxies.length === 0 && isNamedLocal;
}

function isLocalUrl(url: string): boolean {
  const hostname = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  return isLoopback(hostname) || hostname.endsWith(".localhost");
}

/** Whether one of the requirements, of which a caller must meet one, is empty. */
function isOpen(agent: Agent, security: Security | undefined): boolean {
  const { security: requirements = [] } = security?.declare(agent) ?? {};
  return security === undefined || requirements.some((requirement) => Object.keys(requirement).length === 0);
}
