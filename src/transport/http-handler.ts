import type { IncomingMessage, ServerResponse } from "node:http";
import { type Logger, SILENT_LOGGER } from "../internal/logger.ts";
import { createService, type Service, type ServiceOptions } from "../server/service.ts";
import { type PublishedCard, publishCard, serveCard } from "./card-route.ts";
import { type Exchange, jsonReply, type Reply } from "./exchange.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import { handleRpc } from "./jsonrpc/endpoint.ts";
import { createNodeHandler } from "./node/node-handler.ts";
import type { Authenticate, TransportEnvironment, TransportHooks, TransportLimits } from "./options.ts";
import { dispatch, type Handler, type Route } from "./router.ts";
import { StreamRegistry } from "./sse/stream-registry.ts";

export interface HttpHandlerOptions {
  /** At least one. Each is served below `/agents/{id}/`, the first also at the root. */
  readonly agents: readonly ServiceOptions["agent"][];
  readonly engine: ServiceOptions["engine"];
  /** Where callers reach this server, without a slash at the end; a function where that is known only once it listens. */
  readonly publicUrl: string | (() => string);
  /** Default: every caller is anonymous. */
  readonly authenticate?: Authenticate;
  readonly hooks?: TransportHooks;
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

const RPC_PATHS = ["", "/a2a", "/api/a2a", "/subscribe"];

/** Serves agents over HTTP: one neutral handler and its two faces. */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const { agents, engine, hooks = {}, limits = {}, logger = SILENT_LOGGER, publicUrl } = options;
  const environment: TransportEnvironment = {
    authenticate: options.authenticate,
    hooks,
    maxBodyBytes: limits.maxBodyBytes ?? 10_000_000,
    logger,
  };
  const streams = new StreamRegistry({
    heartbeatMs: options.heartbeatMs ?? 15_000,
    maxStreams: limits.maxStreams ?? 20_000,
  });
  const endpoint = { environment, streams };
  const baseUrl = typeof publicUrl === "string" ? () => publicUrl : publicUrl;

  const table = new Map<string, Route>();
  const mount = (prefix: string, agent: ServiceOptions["agent"]): void => {
    const mounted = lazily(
      () => `${baseUrl()}${prefix}/`,
      (url) => publish(createService({ agent, engine, url })),
    );
    const rpc = route("POST", (exchange) => handleRpc(endpoint, mounted().service, exchange));
    for (const path of RPC_PATHS) table.set(prefix + path, rpc);
    table.set(
      `${prefix}/.well-known/agent-card.json`,
      route("GET", (exchange) => serveCard(mounted().card, exchange)),
    );
  };
  const [first] = agents;
  if (first === undefined) throw new TypeError("createHttpHandler(): there is no agent to serve.");
  mount("", first);
  for (const agent of agents) mount(`/agents/${agent.id}`, agent);
  table.set(
    "/healthz",
    route("GET", () => jsonReply(200, '{"status":"ok"}')),
  );
  table.set(
    "/readyz",
    route("GET", () => readiness(engine, logger)),
  );

  const handle = async (exchange: Exchange): Promise<Reply> => {
    try {
      return await dispatch(table, exchange);
    } catch (error) {
      logger.error("A request failed", { error });
      return jsonReply(500, '{"error":{"code":500,"status":"INTERNAL","message":"Internal error"}}');
    }
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

function route(method: string, handler: Handler): Route {
  return new Map([[method, handler]]);
}

function publish(service: Service): { readonly service: Service; readonly card: PublishedCard } {
  return { service, card: publishCard(service) };
}

async function readiness(engine: ServiceOptions["engine"], logger: Logger): Promise<Reply> {
  try {
    await engine.ready();
    return jsonReply(200, '{"status":"ready"}');
  } catch (error) {
    logger.warn("Not ready", { error });
    return jsonReply(503, '{"status":"unavailable"}', { "retry-after": "5" });
  }
}

/** What `make` gives for the key of the moment, made anew only when the key has changed. */
function lazily<T>(key: () => string, make: (key: string) => T): () => T {
  let made: { readonly key: string; readonly value: T } | undefined;
  return () => {
    const current = key();
    if (made?.key !== current) made = { key: current, value: make(current) };
    return made.value;
  };
}
