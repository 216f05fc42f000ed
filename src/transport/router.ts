import type { Exchange, Reply } from "./exchange.ts";
import { jsonReply } from "./exchange.ts";

export type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** What a path answers to, by HTTP method. `GET` serves `HEAD` as well. */
export type Route = ReadonlyMap<string, Handler>;

/** Routes by path, without the slash at the end. */
export type RouteTable = ReadonlyMap<string, Route>;

export function dispatch(table: RouteTable, exchange: Exchange): Reply | Promise<Reply> {
  const route = table.get(pathOf(exchange.target));
  if (route === undefined) return jsonReply(404, errorBody(404, "NOT_FOUND", "There is nothing at this path"));
  const { method } = exchange;
  const handler = route.get(method === "HEAD" ? "GET" : method);
  if (handler !== undefined) return handler(exchange);
  const allow = allowed(route);
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: "" };
  return jsonReply(405, errorBody(405, "UNIMPLEMENTED", `This path answers to ${allow}`), { allow });
}

/** The path without query and without slashes at the end; the root is empty. */
function pathOf(target: string): string {
  const query = target.indexOf("?");
  let end = query === -1 ? target.length : query;
  if (target.charCodeAt(end - 1) === 47) end -= 1;
  return target.slice(0, end);
}

function allowed(route: Route): string {
  return [...route.keys(), ...(route.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
}

function errorBody(code: number, status: string, message: string): string {
  return JSON.stringify({ error: { code, status, message } });
}
