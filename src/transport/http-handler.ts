import type { IncomingMessage, ServerResponse } from "node:http";
import { type Logger, SILENT_LOGGER } from "../internal/logger.ts";
import { DEFAULT_MAX_HOPS } from "../protocol/call-path.ts";
import { A2AError } from "../protocol/error.ts";
import type { AncestryRules } from "../server/accept-call-path.ts";
import type { Security } from "../server/security.ts";
import type { ServiceOptions } from "../server/service.ts";
import type { ReportCall } from "../telemetry/call-report.ts";
import type { Telemetry } from "../telemetry/contract.ts";
import { createDialects } from "../wire/dialects.ts";
import type { GrpcDialects } from "../wire/grpc.ts";
import type { DialectOptions } from "../wire/options.ts";
import { createAgentRouter, type SigningOptions } from "./agent-router.ts";
import { Answers } from "./answers/answers.ts";
import type { Audit } from "./audit.ts";
import { BodyMemory } from "./body/body-memory.ts";
import { JWKS_PATH } from "./card/jwks-route.ts";
import { createAddressResolver, type PublicUrlOptions } from "./card/public-url.ts";
import type { BrowserPages } from "./console/browser-pages.ts";
import { CorsPolicy } from "./cors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Exchange, Reply } from "./exchange.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import type { AuthenticationGroups } from "./grpc/authentication-groups.ts";
import { lazyGrpc } from "./grpc/lazy-endpoint.ts";
import { createHttp2Handler, type Http2Handler } from "./http2/http2-handler.ts";
import { createMcpConnection, type McpConnection } from "./mcp/connection.ts";
import type { McpSettings } from "./mcp/contract.ts";
import type { McpFace } from "./mcp/face.ts";
import { createMcpRoute } from "./mcp/route.ts";
import { createNodeHandler } from "./node/node-handler.ts";
import type { ReservedPaths } from "./operator/reserved-paths.ts";
import {
  type Authenticate,
  DEFAULT_MAX_STREAMS,
  type TransportEnvironment,
  type TransportHooks,
  type TransportLimits,
} from "./options.ts";
import { answerWithinLimit } from "./rate-limit/address-limit.ts";
import { type RateLimitOptions, RequestLimits } from "./rate-limit/request-limits.ts";
import { dispatch, type Mount, type Router } from "./router.ts";
import { StreamRegistry } from "./streams/stream-registry.ts";

export interface HttpHandlerOptions extends PublicUrlOptions {
  /** At least one agent. Each is served below `/agents/{id}/`, the first also at the root. */
  readonly agents: readonly ServiceOptions["agent"][];
  readonly engine: ServiceOptions["engine"];
  /** Absent: no push notifications. */
  readonly push?: ServiceOptions["push"];
  /** Default: every caller is anonymous. */
  readonly authenticate?: Authenticate;
  /** Authenticates and authorizes callers; replaces `authenticate`. */
  readonly security?: Security | undefined;
  readonly audit?: Audit | undefined;
  readonly telemetry?: Telemetry | undefined;
  /** Called after each call, for metrics and the request log. Default: none. */
  readonly reportCall?: ReportCall | undefined;
  /** Called for each request that the rate limit of its network address refuses. */
  readonly onAddressLimit?: (() => void) | undefined;
  /** Serves the paths that belong to no agent. Default: none. */
  readonly reserved?: ReservedPaths | undefined;
  /** Answers browsers where no other route does. Default: none. */
  readonly pages?: BrowserPages | undefined;
  /** The idempotency window: milliseconds within which a repeated message counts once. Default: every message counts. */
  readonly idempotencyWindow?: number | undefined;
  /** False: a message with a `contextId` and no `taskId` always starts a new task. Default true. */
  readonly answerByContext?: boolean | undefined;
  /** Identifies this server in call paths. Default: call paths are not checked. */
  readonly serverId?: string | undefined;
  /** How the ancestry of messages is read. Absent: messages have none. */
  readonly ancestry?: AncestryRules | undefined;
  /** The published keys, and the signer of cards. Default: nothing is signed. */
  readonly signing?: SigningOptions | undefined;
  readonly hooks?: TransportHooks;
  readonly dialects?: DialectOptions;
  /** Web pages of these origins may call; `*`: any. All pages may read public cards. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  readonly limits?: TransportLimits;
  /** How agents are served over MCP. Absent: they are not. */
  readonly mcp?: McpSettings | undefined;
  /** Rate limits. Default: none. */
  readonly rateLimit?: RateLimitOptions | undefined;
  /** Milliseconds of a monotonic clock, for rate limits. */
  readonly now?: () => number;
  /** Milliseconds after which a caller that reads nothing of a longer answer is disconnected. Default 60,000. */
  readonly readerTimeoutMs?: number;
  /** Milliseconds between the comments that keep idle streams alive. Default 15,000. */
  readonly heartbeatMs?: number;
  readonly logger?: Logger;
}

export interface HttpHandler {
  /** Answers one exchange. Never rejects. */
  handle(exchange: Exchange): Promise<Reply>;
  fetch(request: Request): Promise<Response>;
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** For the `stream` event of an HTTP/2 server: REST and JSON-RPC, and gRPC after `serveGrpc`. */
  readonly http2Handler: Http2Handler;
  /** Answers gRPC calls from now on, and lists gRPC in cards. Needs a port for HTTP/2. `load` is called with the first call. */
  serveGrpc(load: () => Promise<GrpcDialects>): void;
  /** Serves these agents to one MCP client over another connection than HTTP. Its caller is anonymous. */
  mcpConnection(settings: McpSettings, ids: readonly string[]): McpConnection;
  /** Ends every stream, asks its reader to reconnect, and opens no more streams. Tasks continue. */
  closeStreams(): void;
  /** The number of open streams. */
  readonly openStreams: number;
}

/** Serves agents over HTTP: one handler, usable with `node:http` and with web-standard `fetch`. */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const { engine, security, hooks = {}, limits = {}, logger = SILENT_LOGGER } = options;
  const agents = security === undefined ? options.agents : options.agents.map(security.declare);
  const addresses = createAddressResolver(options);
  const requestLimits = options.rateLimit === undefined ? undefined : new RequestLimits(options.rateLimit, options.now);
  const maxBodyBytes = limits.maxBodyBytes ?? 10_000_000;
  const environment: TransportEnvironment = {
    authenticate: security === undefined ? options.authenticate : authenticatorOf(security, agents),
    audit: options.audit,
    telemetry: options.telemetry,
    reportCall: options.reportCall,
    onAddressLimit: options.onAddressLimit,
    remoteOf: addresses.remote,
    hooks,
    maxBodyBytes,
    bodyMemory: new BodyMemory({
      total: Math.max(limits.maxPendingBodyBytes ?? 64_000_000, maxBodyBytes),
      perAddress: Math.max(limits.maxPendingBodyBytesPerAddress ?? 32_000_000, maxBodyBytes),
    }),
    requestLimits,
    logger,
  };
  const streams = new StreamRegistry({
    heartbeatMs: options.heartbeatMs ?? 15_000,
    maxStreams: limits.maxStreams ?? DEFAULT_MAX_STREAMS,
    maxStreamsPerCaller: limits.maxStreamsPerCaller ?? Number.POSITIVE_INFINITY,
  });
  const answers = new Answers({
    maxBytes: limits.maxAnswerBytes ?? 128 * 1024 * 1024,
    readerTimeoutMs: options.readerTimeoutMs ?? 60_000,
  });
  const dialects = createDialects(options.dialects);
  const signer = options.signing?.cards;
  const keysUrl = (exchange: Exchange): string => `${addresses.baseUrl(exchange)}${JWKS_PATH}`;
  const cardSigning = signer === undefined ? undefined : { signer, keysUrl };
  const endpoint: Endpoint = { environment, streams, answers, dialects, cardSigning };
  const cors = new CorsPolicy(options.corsOrigins ?? [], security === undefined ? [] : keyHeadersOf(security));
  const groups = authenticationGroups(agents, security);
  const { mcp } = options;
  const mcpFace = (settings: McpSettings, ids: readonly string[]): McpFace => ({
    endpoint,
    settings,
    agents: ids,
    mount: (id) => router.agent(id),
  });
  let handleGrpc: ((exchange: Exchange) => Promise<Reply>) | undefined;
  const router: Router = createAgentRouter({
    endpoint,
    addresses,
    agents,
    listsGrpc: () => handleGrpc !== undefined,
    engine,
    push: options.push,
    security,
    signing: options.signing,
    idempotencyWindow: options.idempotencyWindow,
    answerByContext: options.answerByContext,
    callPaths:
      options.serverId === undefined
        ? undefined
        : {
            serverId: options.serverId,
            maxHops: limits.maxHops ?? DEFAULT_MAX_HOPS,
            ancestry: options.ancestry,
          },
    maxPageBytes: limits.maxPageBytes,
    mcpRoute: mcp && ((ids) => createMcpRoute(mcpFace(mcp, ids), { cors, groups })),
  });
  const { notFound } = router;

  const { reserved, pages } = options;
  const handle = async (exchange: Exchange): Promise<Reply> => {
    let route = notFound;
    let reply: Reply;
    try {
      if (reserved?.accepts(exchange) === true) return await reserved.handle(exchange, environment);
      const found = router.find(exchange);
      route = found.route;
      if (exchange.fault !== undefined) return { ...route.refuse(exchange, exchange.fault), status: 400 };
      if (pages !== undefined && isReading(exchange) && !route.handlers.has("GET")) {
        const page = pages.answer(exchange);
        if (page !== undefined) return page;
      }
      reply =
        requestLimits === undefined || route.unlimited
          ? await dispatch(found, exchange)
          : await answerWithinLimit(environment, {
              exchange,
              mount: found.mount,
              answer: () => dispatch(found, exchange),
              refuse: (error) => found.route.refuse(exchange, error),
            });
    } catch (error) {
      logger.error("A request failed", { error });
      reply = route.refuse(exchange, new A2AError("internal", "Internal error"));
    }
    return cors.apply(exchange, route, reply);
  };
  const handleHttp2 = (exchange: Exchange): Promise<Reply> => (handleGrpc ?? handle)(exchange);
  return {
    handle,
    fetch: createFetchHandler(handle),
    nodeHandler: createNodeHandler(handle),
    http2Handler: createHttp2Handler(handleHttp2),
    serveGrpc(load) {
      const agent = (id: string | undefined): Mount | undefined => router.agent(id);
      const create = async () => {
        const { createGrpcServices } = await import("./grpc/services.ts");
        const { createGrpcEndpoint } = await import("./grpc/endpoint.ts");
        const services = createGrpcServices({ endpoint, dialects: await load(), agent, groups, engine });
        return createGrpcEndpoint({ endpoint, services, agent });
      };
      handleGrpc = lazyGrpc(create, handle, logger);
    },
    mcpConnection: (settings, ids) => createMcpConnection(mcpFace(settings, ids)),
    closeStreams: () => streams.close(),
    get openStreams() {
      return streams.size;
    },
  };
}

function isReading({ method }: Exchange): boolean {
  return method === "GET" || method === "HEAD";
}

/** The headers that carry API keys. */
function keyHeadersOf({ schemes }: Security): readonly string[] {
  return Object.values(schemes).flatMap((scheme) =>
    scheme.type === "apiKey" && scheme.in === "header" ? [scheme.name] : [],
  );
}

/** An authenticator that applies the requirements of the called agent. */
function authenticatorOf(security: Security, agents: readonly ServiceOptions["agent"][]): Authenticate {
  const requirements = new Map(agents.map((agent) => [agent.id, agent.security ?? []]));
  return (request) => security.authenticate(request, requirements.get(request.agent) ?? []);
}

/** Agents with equal requirements authenticate their callers alike. A function of the operator's may treat every agent differently. */
function authenticationGroups(
  agents: readonly ServiceOptions["agent"][],
  security: Security | undefined,
): AuthenticationGroups {
  const firstWith = new Map<string, string>();
  return new Map(
    agents.map(({ id, security: requirements = [] }) => {
      const key = security === undefined ? id : JSON.stringify(requirements);
      const first = firstWith.get(key) ?? id;
      firstWith.set(key, first);
      return [id, first];
    }),
  );
}
