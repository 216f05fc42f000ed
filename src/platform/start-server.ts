import { createMemoryBus } from "../bus/memory/bus.ts";
import type { Agent } from "../engine/agent.ts";
import { createEngine } from "../engine/engine.ts";
import { limitsFrom } from "../engine/limits.ts";
import type { Logger } from "../internal/logger.ts";
import { StoreError } from "../store/contract.ts";
import { createHttpHandler, type HttpHandler } from "../transport/http-handler.ts";
import type { TransportLimits } from "../transport/options.ts";
import { openStore } from "./open-store.ts";
import type { ServerOptions, Settings } from "./settings.ts";
import { messageOf, StartupError } from "./startup-error.ts";

export interface StartOptions {
  readonly agents: readonly Agent[];
  readonly options: ServerOptions;
  readonly settings: Settings;
  /** A function where it is known only once the server listens, and trusted proxies may say otherwise. */
  readonly publicUrl: string | (() => string);
  readonly logger: Logger;
}

/** Everything that works behind a server's doors. */
export interface Started {
  readonly http: HttpHandler;
  /** Where data is kept, for people. */
  readonly storage: string;
  /** Takes no new work; resolves when nothing runs any more, at the latest after so many ms, and all streams were told to come back. */
  drain(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** The one place where the parts are chosen and joined. Rejects with a {@link StartupError}. */
export async function startServer({ agents, options, settings, publicUrl, logger }: StartOptions): Promise<Started> {
  const { engineLimits, transportLimits } = limitsOf(options);
  const opened = await openStore(settings.store, options).catch(explain);
  const bus = createMemoryBus();
  const { on, transform, authenticate, cancelGrace, lease } = options;
  const onFatal = (error: unknown): void => {
    logger.error("The store failed and only a restart can tell what was written: stopping", { error });
    if (options.onFatal !== undefined) options.onFatal(error);
    else process.exit(1);
  };
  const release = async (): Promise<void> => {
    await bus.close();
    await opened.close();
  };
  try {
    const engine = createEngine({
      agents,
      store: opened.store,
      bus,
      secret: opened.secret,
      hooks: { ...(on !== undefined && { on }), ...(transform !== undefined && { transform }) },
      limits: engineLimits,
      logger,
      onFatal,
      ...(cancelGrace !== undefined && { cancelGrace }),
      ...(lease !== undefined && { leaseMs: lease }),
    });
    const http = createHttpHandler({
      agents,
      engine,
      publicUrl,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
      dialects: settings.dialects,
      requireDefaultProject: options.requireDefaultProject,
      hooks: on === undefined ? {} : { on },
      limits: transportLimits,
      heartbeatMs: settings.heartbeat,
      logger,
      ...(authenticate !== undefined && { authenticate }),
    });
    await engine.start();
    return {
      http,
      storage: opened.storage,
      async drain(timeoutMs) {
        await engine.drain(timeoutMs);
        http.closeStreams();
      },
      async close() {
        await engine.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    return explain(error);
  }
}

/** The engine's limits and the transport's apart. */
function limitsOf({ limits = {} }: ServerOptions) {
  const { maxBodyBytes, maxStreams, ...rest } = limits;
  const transportLimits: TransportLimits = {
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
    ...(maxStreams !== undefined && { maxStreams }),
  };
  try {
    return { engineLimits: limitsFrom(rest), transportLimits };
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

/** Store errors say themselves what to do. */
function explain(error: unknown): never {
  if (error instanceof StartupError) throw error;
  if (error instanceof StoreError && error.code === "unusable")
    throw new StartupError("failed", error.message, { cause: error });
  throw new StartupError("failed", `The server could not start: ${messageOf(error)}`, { cause: error });
}
