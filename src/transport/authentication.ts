import type { Logger } from "../internal/logger.ts";
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
    if (thrown instanceof A2AError) {
      tellOnce(thrown, agent, logger);
      throw thrown;
    }
    logger.warn("The authenticator failed; the caller was refused", { agent, error: thrown });
    throw new A2AError("unauthenticated", "Authentication failed", { cause: thrown });
  }
}

const TOLD = new WeakSet<object>();

/** Why credentials cannot be verified is the operator's to know. What fails once fails for many callers, and is told once. */
function tellOnce({ code, cause }: A2AError, agent: string, logger: Logger): void {
  if (code !== "unavailable" || typeof cause !== "object" || cause === null || TOLD.has(cause)) return;
  TOLD.add(cause);
  logger.warn("Credentials cannot be verified; callers are asked to come back", { agent, error: cause });
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
