import type { Agent } from "../../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createServer, type Server } from "../../platform/create-server.ts";
import type { ServerOptions } from "../../platform/settings/settings.ts";

/** A server with a memory store that is closed at the end of the scope. */
export function serving(agents: Agent | readonly Agent[], options: ServerOptions = {}): Server & AsyncDisposable {
  const server = createServer(agents, {
    store: "memory:",
    publicUrl: "https://agents.example",
    drainTimeout: 0,
    logger: SILENT_LOGGER,
    ...options,
  });
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}
