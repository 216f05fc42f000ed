import { A2AError } from "../protocol/error.ts";
import { ANONYMOUS, type Principal } from "../protocol/principal.ts";
import type { Exchange } from "./exchange.ts";
import type { IncomingRequest, TransportEnvironment } from "./options.ts";

/** Who calls. Whatever an authenticator throws that is not meant for callers refuses them without telling why. */
export async function authenticateExchange(
  exchange: Exchange,
  agent: string,
  environment: TransportEnvironment,
): Promise<Principal> {
  const { authenticate, remoteOf, logger } = environment;
  if (authenticate === undefined) return ANONYMOUS;
  try {
    return (await authenticate(incomingRequest(exchange, agent, remoteOf(exchange)))) ?? ANONYMOUS;
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    logger.warn("The authenticator failed; the caller was refused", { agent, error: thrown });
    throw new A2AError("unauthenticated", "Authentication failed", { cause: thrown });
  }
}

function incomingRequest(exchange: Exchange, agent: string, remote: string | undefined): IncomingRequest {
  return {
    method: exchange.method,
    url: exchange.target,
    headers: { get: (name) => exchange.header(name.toLowerCase()) ?? null },
    remote,
    agent,
    get certificate() {
      return exchange.certificate;
    },
  };
}
