import type { Logger } from "../internal/logger.ts";
import { A2AError } from "../protocol/error.ts";
import { ANONYMOUS, type Principal } from "../protocol/principal.ts";
import type { Exchange } from "./exchange.ts";
import type { IncomingRequest, TransportEnvironment } from "./options.ts";

/** Authenticates the caller. Any error of the authenticator but an `A2AError` becomes `unauthenticated`, and its details go only to the log. */
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
      logOnce(thrown, agent, logger);
      throw thrown;
    }
    logger.warn("The authenticator failed; the caller was refused", { agent, error: thrown });
    throw new A2AError("unauthenticated", "Authentication failed", { cause: thrown });
  }
}

const LOGGED = new WeakSet<object>();

/** Logs why credentials cannot be verified. One failure affects many callers, and is logged once. */
function logOnce({ code, cause }: A2AError, agent: string, logger: Logger): void {
  if (code !== "unavailable" || typeof cause !== "object" || cause === null || LOGGED.has(cause)) return;
  LOGGED.add(cause);
  logger.warn("Credentials cannot be verified; callers get 503", { agent, error: cause });
}

/** A request as authenticators read it. */
export function incomingRequest(exchange: Exchange, agent: string, remote: string | undefined): IncomingRequest {
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
