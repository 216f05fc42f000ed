import { A2AError } from "../protocol/error.ts";
import type { Service } from "../server/service.ts";
import type { Exchange, FullReply, Reply } from "./exchange.ts";
import type { PathMatch, PathTree } from "./rest/path-tree.ts";

export type Handler = (exchange: Exchange, found: Found) => Reply | Promise<Reply>;

/** Writes an error in the format that callers of a path expect. */
export type Refuse = (exchange: Exchange, error: A2AError) => FullReply;

/** The handlers of a path. */
export interface Route {
  /** By HTTP method. `GET` also serves `HEAD`. Empty: the path does not exist. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** The `Allow` header. */
  readonly allow: string;
  readonly refuse: Refuse;
  /** Web pages of every origin may read the answers. */
  readonly open: boolean;
  /** The agent of requests at the root. `undefined`: the first agent. */
  readonly rootMount: Mount | undefined;
  /** Without rate limits: for health checks. */
  readonly unlimited: boolean;
}

/** The agent that a request is for. */
export type Mount = (exchange: Exchange) => Service;

/** A route, its agent, and the values of the path's parameters, still percent-encoded. */
export interface Found {
  readonly route: Route;
  readonly mount: Mount;
  readonly captured: readonly string[];
}

export interface RouteOptions {
  readonly refuse: Refuse;
  readonly open?: boolean;
  readonly rootMount?: Mount | undefined;
  readonly unlimited?: boolean;
}

export function createRoute(handlers: ReadonlyMap<string, Handler>, options: RouteOptions): Route {
  const { refuse, rootMount, open = false, unlimited = false } = options;
  const methods = [...handlers.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return { handlers, allow: [...methods, "OPTIONS"].join(", "), refuse, open, rootMount, unlimited };
}

/** Routes with path parameters: without a tenant, and below `/{tenant}`, which is the first parameter. */
export interface NamedRoutes {
  readonly plain: PathTree<Route>;
  readonly tenanted: PathTree<Route>;
  /** The route for an unknown path that begins with this segment. */
  notFound(segment: string): Route;
}

/** First segments of a path that are never a tenant, besides the first segments of routes. */
const RESERVED: ReadonlySet<string> = new Set([
  ...[
    "a2a",
    "api",
    "subscribe",
    "agents",
    "agent",
    "v1",
    ".well-known",
    "healthz",
    "readyz",
    "metrics",
    "console",
    "mcp",
    "operator",
  ],
  ...["tasks", "message:send", "message:stream", "extendedAgentCard"],
]);

/** More than any route has, so that a path of many slashes is not split completely. */
const MAX_SEGMENTS = 10;

const NONE: readonly string[] = [];

export interface RouterOptions {
  readonly named: NamedRoutes;
  /** The path of the server's public URL, without a trailing slash. Requests may contain it or not. */
  basePath(exchange: Exchange): string;
}

/** Finds the route of a path: exact paths by a map, paths with parameters by their segments. */
export class Router {
  readonly #exact = new Map<string, Found>();
  readonly #agents = new Map<string, Mount>();
  readonly #root: Mount;
  readonly #named: NamedRoutes;
  readonly #basePath: RouterOptions["basePath"];

  constructor(root: Mount, { named, basePath }: RouterOptions) {
    this.#root = root;
    this.#named = named;
    this.#basePath = basePath;
  }

  /** Serves these exact paths at the root, besides all routes with parameters. */
  add(routes: ReadonlyMap<string, Route>): void {
    this.#addBelow("", this.#root, routes);
  }

  /** Serves an agent below `/agents/{id}`: these exact paths and all routes with parameters. */
  mount(id: string, mount: Mount, routes: ReadonlyMap<string, Route>): void {
    this.#addBelow(`/agents/${id}`, mount, routes);
    this.#agents.set(id, mount);
  }

  /** The agent with this id; without an id, the agent at the root. */
  agent(id: string | undefined): Mount | undefined {
    return id === undefined ? this.#root : this.#agents.get(id);
  }

  /** The route for requests that failed before their path was parsed. */
  get notFound(): Route {
    return this.#named.notFound("");
  }

  find(exchange: Exchange): Found {
    const path = pathOf(exchange.target);
    return this.#exact.get(path) ?? this.#findBelow(this.#basePath(exchange), path);
  }

  #addBelow(prefix: string, mount: Mount, routes: ReadonlyMap<string, Route>): void {
    for (const [path, route] of routes) this.#exact.set(prefix + path, { route, mount, captured: NONE });
  }

  #findBelow(base: string, path: string): Found {
    if (base === "" || !isBelow(base, path)) return this.#findNamed(path);
    const rest = path.slice(base.length);
    return this.#exact.get(rest) ?? this.#findNamed(rest);
  }

  #findNamed(path: string): Found {
    const segments = path.split("/", MAX_SEGMENTS + 1);
    const ofAgent = segments[1] === "agents";
    const mount = ofAgent ? this.#agents.get(segments[2] ?? "") : this.#root;
    const from = ofAgent ? 3 : 1;
    const isOrderly = segments.length <= MAX_SEGMENTS && !segments.some(isRelative);
    const match = mount === undefined || !isOrderly ? undefined : this.#match(segments, from);
    const { value: route, captured } = match ?? { value: this.#named.notFound(segments[from] ?? ""), captured: NONE };
    return { route, mount: (ofAgent ? mount : route.rootMount) ?? this.#root, captured };
  }

  #match(segments: readonly string[], from: number): PathMatch<Route> | undefined {
    const plain = this.#named.plain.find(segments, from);
    if (plain !== undefined) return plain;
    const tenant = segments[from];
    if (tenant === undefined || tenant === "" || RESERVED.has(tenant)) return undefined;
    const match = this.#named.tenanted.find(segments, from + 1);
    return match === undefined ? undefined : { value: match.value, captured: [tenant, ...match.captured] };
  }
}

/** Answers a request by its route. Fails only if a handler fails. */
export function dispatch(found: Found, exchange: Exchange): Reply | Promise<Reply> {
  const { handlers, allow, refuse } = found.route;
  const { method } = exchange;
  const handler = handlers.get(method === "HEAD" ? "GET" : method);
  if (handler !== undefined) {
    const reply = handler(exchange, found);
    return method === "HEAD" ? Promise.resolve(reply).then(withoutStream) : reply;
  }
  if (handlers.size === 0) return refuse(exchange, new A2AError("method-not-found", pathNotFound(exchange)));
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: "" };
  const refusal = refuse(exchange, new A2AError("method-not-allowed", `This path supports only ${allow}`));
  return { ...refusal, headers: { ...refusal.headers, allow } };
}

/** A client that resolves `.well-known/…` against `/agents/{id}` without a trailing slash requests `/agents/.well-known/…`. */
function pathNotFound({ target }: Exchange): string {
  const [, above, card] = /^(.*\/agents)(\/\.well-known\/agent(?:-card)?\.json)$/.exec(pathOf(target)) ?? [];
  if (above === undefined || card === undefined) return "Path not found";
  return `Path not found: the card of an agent is at ${above}/{id}${card}. Give your client the agent's URL with a trailing slash: ${above}/{id}/`;
}

/** A `HEAD` request for a stream gets only the headers. */
function withoutStream(reply: Reply): Reply {
  if (!("source" in reply)) return reply;
  reply.source.cancel();
  return { status: reply.status, headers: reply.headers, body: "" };
}

/** The path without query and without a trailing slash; the root is empty. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  let end = query === -1 ? target.length : query;
  if (target.charCodeAt(end - 1) === 47) end -= 1;
  return target.slice(0, end);
}

function isBelow(base: string, path: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === 47);
}

function isRelative(segment: string): boolean {
  return segment === "." || segment === "..";
}
