import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RunningPeer } from "../peer.ts";

/** Opens a port, and then creates the application for its address. */
export async function serveApp(
  create: (port: number) => RequestListener | Promise<RequestListener>,
): Promise<RunningPeer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.on("request", await create(port));
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The listener for an application that maps a `Request` to a `Response`. */
export function listenerOf(fetch: (request: Request) => Promise<Response>): RequestListener {
  return (request, response) => void forward(request, response, fetch).catch(() => response.destroy());
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const left = new AbortController();
  response.on("close", () => left.abort());
  const { method = "GET", url = "/", headers } = request;
  const body = method === "GET" ? null : Buffer.concat(await request.toArray());
  const address = new URL(url, `http://${headers.host}`);
  const answer = await fetch(
    new Request(address, { method, headers: headers as Record<string, string>, body, signal: left.signal }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
