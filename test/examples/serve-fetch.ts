import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Serves a web-standard handler over `node:http`, like adapters do: a client that disconnects aborts its request. */
export function serveFetch(handle: FetchHandler): Server {
  return createServer((incoming, outgoing) => void answer(handle, incoming, outgoing));
}

async function answer(handle: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const { status, headers, body } = await handle(requestOf(incoming, gone.signal));
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (body === null) outgoing.end();
  // The signal reports a broken connection.
  else await pipeline(Readable.fromWeb(body), outgoing).catch(() => {});
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", headers, url = "/" } = incoming;
  const init: RequestInit = {
    method,
    signal,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
  };
  const target = `http://${headers.host}${url}`;
  if (method === "GET" || method === "HEAD") return new Request(target, init);
  return new Request(target, { ...init, body: Readable.toWeb(incoming), duplex: "half" });
}
