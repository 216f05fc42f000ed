import type { IncomingMessage, ServerResponse } from "node:http";
import { type Logger, SILENT_LOGGER } from "../internal/logger.ts";
import { A2AError } from "../protocol/error.ts";
import type { ServiceOptions } from "../server/service.ts";
import { createDialects } from "../wire/dialects.ts";
import type { DialectOptions } from "../wire/options.ts";
import { createAgentRouter } from "./agent-router.ts";
import type { Endpoint } from "./conversation.ts";
import { CorsPolicy } from "./cors.ts";
import type { Exchange, Reply } from "./exchange.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import { createNodeHandler } from "./node/node-handler.ts";
import type { Authenticate, TransportEnvironment, TransportHooks, TransportLimits } from "./options.ts";
import { createWhereabouts, type PublicUrlOptions } from "./public-url.ts";
import { dispatch } from "./router.ts";
import { StreamRegistry } from "./sse/stream-registry.ts";

export interface HttpHandlerOptions extends PublicUrlOptions {
  /** At least one. Each is served below `/agents/{id}/`, the first also at the root. */
  readonly agents: readonly ServiceOptions["agent"][];
  readonly engine: ServiceOptions["engine"];
  /** Default false: calls for the agent that has a default project are for the first one where none has. */
  readonly requireDefaultProject?: boolean | undefined;
  /** Default: every caller is anonymous. */
  readonly authenticate?: Authenticate;
  readonly hooks?: TransportHooks;
  readonly dialects?: DialectOptions;
  /** Web pages of these origins may call; `*` is any. Cards may be read by all. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  readonly limits?: TransportLimits;
  /** Milliseconds between the comments that keep idle streams alive. Default 15,000. */
  readonly heartbeatMs?: number;
  readonly logger?: Logger;
}

export interface HttpHandler {
  /** Answers one exchange. Never rejects. */
  handle(exchange: Exchange): Promise<Reply>;
  fetch(request: Request): Promise<Response>;
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Ends every stream, telling its reader to come back, and opens no more. Tasks go on. */
  closeStreams(): void;
  /** Streams open now. */
  readonly openStreams: number;
}

/** Serves agents over HTTP: one neutral handler and its two faces. */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const { agents, engine, requireDefaultProject, hooks = {}, limits = {}, logger = SILENT_LOGGER } = options;
  const whereabouts = createWhereabouts(options);
  const environment: TransportEnvironment = {
    authenticate: options.authenticate,
    remoteOf: whereabouts.remote,
    hooks,
    maxBodyBytes: limits.maxBodyBytes ?? 10_000_000,
    logger,
  };
  const streams = new StreamRegistry({
    heartbeatMs: options.heartbeatMs ?? 15_000,
    maxStreams: limits.maxStreams ?? 20_000,
  });
  const dialects = createDialects(options.dialects);
  const endpoint: Endpoint = { environment, streams, dialects };
  const router = createAgentRouter({ endpoint, whereabouts, agents, engine, requireDefaultProject });
  const { nowhere } = router;
  const cors = new CorsPolicy(options.corsOrigins ?? []);

  const handle = async (exchange: Exchange): Promise<Reply> => {
    let route = nowhere;
    let reply: Reply;
    try {
      const found = router.find(exchange);
      route = found.route;
      reply = await dispatch(found, exchange);
    } catch (error) {
      logger.error("A request failed", { error });
      reply = route.refuse(exchange, new A2AError("internal", "Internal error"));
    }
    return cors.apply(exchange, route, reply);
  };
  return {
    handle,
    fetch: createFetchHandler(handle),
    nodeHandler: createNodeHandler(handle),
    closeStreams: () => streams.close(),
    get openStreams() {
      return streams.size;
    },
  };
}
