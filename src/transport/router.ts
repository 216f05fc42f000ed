import { A2AError } from "../protocol/error.ts";
import type { Service } from "../server/service.ts";
import type { Exchange, FullReply, Reply } from "./exchange.ts";
import type { PathMatch, PathTree } from "./rest/path-tree.ts";

export type Handler = (exchange: Exchange, found: Found) => Reply | Promise<Reply>;

/** Tells of an error in the form that callers of a path read. */
export type Refuse = (exchange: Exchange, error: A2AError) => FullReply;

/** What a path answers to. */
export interface Route {
  /** By HTTP method. `GET` serves `HEAD` as well. Empty: there is nothing at this path. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** The methods, as the header of that name lists them. */
  readonly allow: string;
  readonly refuse: Refuse;
  /** Web pages of every origin may read it. */
  readonly open: boolean;
  /** At the root it is for the agent that has a default project. */
  readonly forDefaultProject: boolean;
  /** May be called as often as anybody likes: by those who look whether the server is well. */
  readonly unlimited: boolean;
}

/** The agent that a request is for. */
export type Mount = (exchange: Exchange) => Service;

/** A route, the agent it was found for, and what stands in the path for the route's names, as sent. */
export interface Found {
  readonly route: Route;
  readonly mount: Mount;
  readonly captured: readonly string[];
}

export interface RouteOptions {
  readonly refuse: Refuse;
  readonly open?: boolean;
  readonly forDefaultProject?: boolean;
  readonly unlimited?: boolean;
}

export function createRoute(handlers: ReadonlyMap<string, Handler>, options: RouteOptions): Route {
  const { refuse, open = false, forDefaultProject = false, unlimited = false } = options;
  const methods = [...handlers.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return { handlers, allow: [...methods, "OPTIONS"].join(", "), refuse, open, forDefaultProject, unlimited };
}

/** Routes with names in their paths: as they are, and as they are below `/{tenant}`, whose name is captured first. */
export interface NamedRoutes {
  readonly plain: PathTree<Route>;
  readonly tenanted: PathTree<Route>;
  /** For a path that leads nowhere and begins with this segment. */
  nowhere(segment: string): Route;
}

/** What no tenant can be called at the beginning of a path, besides what routes begin with. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["a2a", "api", "subscribe", "agents", "agent", "v1", ".well-known", "healthz", "readyz", "metrics", "console"],
  ...["tasks", "message:send", "message:stream", "extendedAgentCard"],
]);

/** More than any route has, so that a path of nothing but slashes is not taken apart. */
const MAX_SEGMENTS = 10;

const NONE: readonly string[] = [];

export interface RouterOptions {
  readonly named: NamedRoutes;
  /** The agent that has a default project. Default: the one at the root. */
  readonly defaultProject?: Mount;
  /** The path of the server's public URL, without a slash at its end. What begins with it is served as if it did not. */
  basePath(exchange: Exchange): string;
}

/** Finds what a path leads to: exact paths at once, those with names in them by their segments. */
export class Router {
  readonly #exact = new Map<string, Found>();
  readonly #agents = new Map<string, Mount>();
  readonly #root: Mount;
  readonly #defaultProject: Mount;
  readonly #named: NamedRoutes;
  readonly #basePath: RouterOptions["basePath"];

  constructor(root: Mount, { named, basePath, defaultProject = root }: RouterOptions) {
    this.#root = root;
    this.#defaultProject = defaultProject;
    this.#named = named;
    this.#basePath = basePath;
  }

  /** Serves these exact paths at the root, where every named route is served as well. */
  add(routes: ReadonlyMap<string, Route>): void {
    this.#addBelow("", this.#root, routes);
  }

  /** Serves an agent below `/agents/{id}`: these exact paths and every named route. */
  mount(id: string, mount: Mount, routes: ReadonlyMap<string, Route>): void {
    this.#addBelow(`/agents/${id}`, mount, routes);
    this.#agents.set(id, mount);
  }

  /** For requests of which not even the path could be looked at. */
  get nowhere(): Route {
    return this.#named.nowhere("");
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
    const { value: route, captured } = match ?? { value: this.#named.nowhere(segments[from] ?? ""), captured: NONE };
    const atRoot = route.forDefaultProject ? this.#defaultProject : this.#root;
    return { route, mount: ofAgent ? (mount ?? this.#root) : atRoot, captured };
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

/** Has a request answered by what was found for it. Fails only where a handler does. */
export function dispatch(found: Found, exchange: Exchange): Reply | Promise<Reply> {
  const { handlers, allow, refuse } = found.route;
  const { method } = exchange;
  const handler = handlers.get(method === "HEAD" ? "GET" : method);
  if (handler !== undefined) {
    const reply = handler(exchange, found);
    return method === "HEAD" ? Promise.resolve(reply).then(withoutStream) : reply;
  }
  if (handlers.size === 0) return refuse(exchange, new A2AError("method-not-found", nothingAt(exchange)));
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: "" };
  const refusal = refuse(exchange, new A2AError("method-not-allowed", `This path answers to ${allow}`));
  return { ...refusal, headers: { ...refusal.headers, allow } };
}

/** A client that resolves `.well-known/…` against `/agents/{id}` without a slash at its end asks for `/agents/.well-known/…`. */
function nothingAt({ target }: Exchange): string {
  const [, above, card] = /^(.*\/agents)(\/\.well-known\/agent(?:-card)?\.json)$/.exec(pathOf(target)) ?? [];
  if (above === undefined || card === undefined) return "There is nothing at this path";
  return `There is nothing at this path: the card of an agent is at ${above}/{id}${card}. Give your client the agent's address with a slash at its end: ${above}/{id}/`;
}

/** Who asks only for the head of a stream is not kept waiting for the rest. */
function withoutStream(reply: Reply): Reply {
  if (!("source" in reply)) return reply;
  reply.source.cancel();
  return { status: reply.status, headers: reply.headers, body: "" };
}

/** The path without query and without the slash at its end; the root is empty. */
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
