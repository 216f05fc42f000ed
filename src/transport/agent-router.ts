import type { Signer } from "../auth/create-signer.ts";
import type { SigningKeys } from "../auth/signing-keys.ts";
import type { Logger } from "../internal/logger.ts";
import { withoutTrailing } from "../internal/without-trailing.ts";
import { A2AError } from "../protocol/error.ts";
import { credentialHeaders } from "../server/security.ts";
import { createService, type Service, type ServiceOptions } from "../server/service.ts";
import type { RootAgent } from "../wire/codec.ts";
import type { GrpcName } from "../wire/grpc-place.ts";
import { answerCall } from "./call/answer-call.ts";
import { type CardSource, serveCard } from "./card/card-route.ts";
import { JWKS_PATH, jwksRoute } from "./card/jwks-route.ts";
import { servePrivateCard } from "./card/private-card.ts";
import { type AddressResolver, perBaseUrl } from "./card/public-url.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Exchange, jsonReply, type Reply } from "./exchange.ts";
import { RPC_PRESENTER } from "./jsonrpc/presenter.ts";
import { rpcRefusal } from "./jsonrpc/refusal.ts";
import { RpcCall } from "./jsonrpc/rpc-call.ts";
import { createRestRoutes } from "./rest/routes.ts";
import { createRoute, type Handler, type Mount, pathOf, type Refuse, type Route, Router } from "./router.ts";

export interface AgentRouterOptions {
  readonly endpoint: Endpoint;
  readonly addresses: AddressResolver;
  /** The first agent is also served at the root. */
  readonly agents: readonly ServiceOptions["agent"][];
  /** Whether cards list gRPC now. */
  readonly listsGrpc: () => boolean;
  readonly engine: ServiceOptions["engine"];
  readonly push?: ServiceOptions["push"];
  readonly security?: ServiceOptions["security"];
  readonly signing?: SigningOptions | undefined;
  readonly idempotencyWindow?: ServiceOptions["idempotencyWindow"];
  readonly answerByContext?: ServiceOptions["answerByContext"];
  readonly callPaths?: ServiceOptions["callPaths"];
  readonly maxPageBytes?: ServiceOptions["maxPageBytes"];
  /** The route of MCP for these agents. Absent: MCP is not served. */
  readonly mcpRoute?: ((agents: readonly string[]) => Route) | undefined;
}

/** The signing keys of this server. */
export interface SigningOptions {
  /** Published below `/.well-known`. */
  readonly keys: SigningKeys;
  /** Signs cards. Absent: they are not signed. */
  readonly cards?: Signer | undefined;
}

/** Streams at this path have `event:` lines, as some clients of the earliest versions require. */
const NAMING_PATH = "/subscribe";
const RPC_PATHS = ["", "/a2a", "/api/a2a", NAMING_PATH];
const MCP_PATH = "/mcp";
const CARD_PATH = "/.well-known/agent-card.json";
const LEGACY_CARD_PATH = "/.well-known/agent.json";

/** All routes: every agent below `/agents/{id}`, the first one also at the root, all agents over MCP, the published keys, and the health checks. */
export function createAgentRouter(options: AgentRouterOptions): Router {
  const { endpoint, addresses, agents, listsGrpc, engine, push, security, signing, mcpRoute, ...shared } = options;
  const { idempotencyWindow, answerByContext, callPaths, maxPageBytes } = shared;
  const [first] = agents;
  if (first === undefined) throw new TypeError("createHttpHandler(): agents must not be empty.");
  const { dialects } = endpoint;
  const mountAt = (agent: ServiceOptions["agent"], prefix: string, missing?: string): Mount => {
    const serviceBy = (grpc: GrpcName | undefined): ((baseUrl: string) => Service) =>
      perBaseUrl((base) =>
        createService({
          ...{ agent, engine, push, security, idempotencyWindow, answerByContext, callPaths, maxPageBytes, missing },
          interfaces: dialects.interfaces(base + prefix, grpc),
        }),
      );
    const withGrpc = serviceBy({ agent: prefix === "" ? undefined : agent.id });
    const withoutGrpc = serviceBy(undefined);
    return (exchange) => (listsGrpc() ? withGrpc : withoutGrpc)(addresses.baseUrl(exchange));
  };
  const basePathOf = perBaseUrl((base) => withoutTrailing(URL.parse(base)?.pathname ?? "", "/"));
  const mountChosen = ({ choose, missing }: RootAgent): Mount => {
    const none = mountAt(first, "", missing);
    const mounts = new Map(agents.map((agent) => [agent, mountAt(agent, "")]));
    return (exchange) => {
      const agent = choose(agents, (name) => exchange.header(name));
      return ((agent && mounts.get(agent)) ?? none)(exchange);
    };
  };
  const named = createRestRoutes(endpoint, mountChosen);
  const router = new Router(mountAt(first, ""), {
    named,
    basePath: (exchange) => basePathOf(addresses.baseUrl(exchange)),
  });
  const { refuse } = named.notFound("");
  const isPrivate = security?.hasPrivateCards === true;
  const cards = { vary: listed([addresses.vary, ...(isPrivate ? credentialHeaders(security) : [])]), isPrivate };
  const routes = new Map([
    ...RPC_PATHS.map((path) => [path, rpcRoute(endpoint, path)] as const),
    ...cardRoutes(endpoint, { ...cards, signing: endpoint.cardSigning }, refuse),
  ]);
  router.add(routes);
  if (signing !== undefined) router.add(new Map([[JWKS_PATH, jwksRoute(signing.keys, refuse)]]));
  router.add(healthRoutes(engine, endpoint.environment.logger, refuse));
  if (mcpRoute !== undefined) router.add(new Map([[MCP_PATH, mcpRoute(agents.map(({ id }) => id))]]));
  for (const agent of agents) {
    const mcp = mcpRoute === undefined ? [] : [[MCP_PATH, mcpRoute([agent.id])] as const];
    router.mount(agent.id, mountAt(agent, `/agents/${agent.id}`), new Map([...routes, ...mcp]));
  }
  return router;
}

/** A header value that lists these names. */
function listed(names: readonly string[]): string {
  return names.filter((name) => name !== "").join(", ");
}

/** The routes of an agent's card: the current path, and the path of earlier versions if one of them is served. */
function cardRoutes(
  { dialects, environment }: Endpoint,
  common: Omit<CardSource, "choose">,
  refuse: Refuse,
): ReadonlyMap<string, Route> {
  const { chooseCard, chooseLegacyCard } = dialects;
  const { isPrivate } = common;
  const routeOf = (choose: CardSource["choose"]): Route => {
    const source: CardSource = { ...common, choose };
    const card: Handler = (exchange, { mount }) => serveCard(source, mount(exchange), exchange);
    const guarded: Handler = (exchange, { mount }) =>
      servePrivateCard(source, mount(exchange), { exchange, environment, refuse });
    return createRoute(new Map([["GET", isPrivate ? guarded : card]]), { refuse, open: !isPrivate });
  };
  const routes = new Map([[CARD_PATH, routeOf(chooseCard)]]);
  if (chooseLegacyCard(undefined) === undefined) return routes;
  return routes.set(
    LEGACY_CARD_PATH,
    routeOf((requested) => chooseLegacyCard(requested) ?? chooseCard(requested)),
  );
}

function rpcRoute(endpoint: Endpoint, path: string): Route {
  const namesEvents = path === NAMING_PATH;
  const call: Handler = (exchange, { mount }) =>
    answerCall(
      endpoint,
      new RpcCall(endpoint.dialects, exchange, { service: mount(exchange), namesEvents }),
      RPC_PRESENTER,
    );
  const refuse = rpcRefusal(endpoint.dialects);
  return createRoute(new Map([["POST", call]]), {
    refuse: (exchange, error) => refuse(exchange, withCardPath(error, placeOf(exchange, path))),
  });
}

/** The part of the request's path before one of the agent's paths. */
function placeOf(exchange: Exchange, path: string): string {
  const whole = pathOf(exchange.target);
  return whole.slice(0, whole.length - path.length);
}

/** Adds the card's path: a `GET` of an agent's URL is mostly a search for its card. */
function withCardPath(error: A2AError, place: string): A2AError {
  if (error.code !== "method-not-allowed") return error;
  return new A2AError(error.code, `${error.message}; the agent's card is at ${place}${CARD_PATH}`);
}

function healthRoutes(engine: ServiceOptions["engine"], logger: Logger, refuse: Refuse): ReadonlyMap<string, Route> {
  const live: Handler = () => liveness(engine, logger);
  const ready: Handler = () => readiness(engine, logger);
  return new Map([
    ["/healthz", createRoute(new Map([["GET", live]]), { refuse, unlimited: true })],
    ["/readyz", createRoute(new Map([["GET", ready]]), { refuse, unlimited: true })],
  ]);
}

/** A process manager restarts a process that does not make progress; it must not restart one whose database cannot be reached. */
function liveness(engine: ServiceOptions["engine"], logger: Logger): Reply {
  try {
    engine.alive();
    return jsonReply(200, '{"status":"ok"}');
  } catch (error) {
    logger.error("No progress", { error });
    return jsonReply(503, '{"status":"no-progress"}');
  }
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
