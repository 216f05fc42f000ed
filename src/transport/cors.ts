import type { Exchange, Headers, Reply } from "./exchange.ts";
import type { Route } from "./router.ts";

const METHODS = "GET, POST, DELETE, OPTIONS";
const REQUEST_HEADERS = [
  ...["Content-Type", "Authorization", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Last-Event-ID"],
  ...["If-None-Match", "Traceparent", "Tracestate"],
  ...["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"],
];
const EXPOSED = [
  ...["A2A-Extensions", "X-A2A-Extensions", "ETag", "WWW-Authenticate", "Retry-After", "Link"],
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  ...["RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Mcp-Session-Id"],
].join(", ");
const MAX_AGE_SECONDS = "7200";

/** Which web pages may read which answers. Requests without `Origin` do not come from web pages and are not affected. */
export class CorsPolicy {
  readonly #origins: ReadonlySet<string>;
  readonly #requestHeaders: string;

  /**
   * Allows web pages of these origins (`*`: any) to call, and to send these headers besides the usual ones. Throws a `TypeError` for an
   * invalid origin.
   */
  constructor(origins: readonly string[], headers: readonly string[] = []) {
    this.#origins = new Set(origins.map(originOf));
    this.#requestHeaders = [...REQUEST_HEADERS, ...headers].join(", ");
  }

  /** Whether web pages of this origin may call. */
  allows(origin: string): boolean {
    return this.#origins.has("*") || this.#origins.has(origin);
  }

  /** Adds the CORS headers. Open routes always have them, because caches may store their answers. */
  apply(exchange: Exchange, route: Route, reply: Reply): Reply {
    const origin = exchange.header("origin");
    if (origin === undefined && !route.open) return reply;
    const headers = this.#headersFor(origin, route);
    if (headers === undefined) return reply;
    const isPreflight = exchange.method === "OPTIONS" && "access-control-allow-origin" in headers;
    const all = { ...reply.headers, ...headers, ...(isPreflight && this.#preflight(route)) };
    return { ...reply, headers: withVary(all, reply.headers["vary"]) };
  }

  #headersFor(origin: string | undefined, { open }: Route): Headers | undefined {
    if (open) return { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED };
    if (origin === undefined || this.#origins.size === 0) return undefined;
    if (!this.#origins.has("*") && !this.#origins.has(origin)) return { vary: "Origin" };
    return { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED, vary: "Origin" };
  }

  #preflight({ open, allow }: Route): Headers {
    return {
      "access-control-allow-methods": open ? allow : METHODS,
      "access-control-allow-headers": this.#requestHeaders,
      "access-control-max-age": MAX_AGE_SECONDS,
    };
  }
}

/** Keeps the earlier values of `Vary`. */
function withVary(headers: Headers, before: string | undefined): Headers {
  const { vary } = headers;
  return before === undefined || vary === before ? headers : { ...headers, vary: `${before}, ${vary}` };
}

function originOf(entry: string): string {
  if (entry === "*" || entry === "null") return entry;
  const url = URL.parse(entry);
  if (url === null || url.host === "" || url.pathname.length > 1 || url.search !== "" || url.hash !== "") {
    throw new TypeError(`An allowed origin must be like https://app.example.org, not ${JSON.stringify(entry)}.`);
  }
  return `${url.protocol}//${url.host}`;
}
