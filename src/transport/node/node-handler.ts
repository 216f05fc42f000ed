import type { IncomingMessage, ServerResponse } from "node:http";
import { COMMON_HEADERS, type Exchange, type Reply } from "../exchange.ts";
import { encodingOf } from "./encoding.ts";
import { NodeExchange } from "./node-exchange.ts";
import { StreamPump } from "./stream-pump.ts";

/** Serves exchanges over `node:http`. */
export function createNodeHandler(
  handle: (exchange: Exchange) => Promise<Reply>,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const exchange = new NodeExchange(request);
    response.on("error", ignore);
    response.on("close", () => exchange.closed(response.writableFinished));
    void handle(exchange).then((reply) => {
      if (exchange.isLast) response.shouldKeepAlive = false;
      write(reply, response);
    });
  };
}

function write(reply: Reply, response: ServerResponse): void {
  if ("source" in reply) {
    const begin = (): void => {
      response.writeHead(reply.status, { ...COMMON_HEADERS, ...reply.headers });
    };
    new StreamPump(reply.source, { sink: response, begin, breakOff: () => response.destroy() }).start();
    return;
  }
  if (response.destroyed) return;
  const { status, headers, body } = reply;
  if (status === 204 || status === 304) {
    response.writeHead(status, { ...COMMON_HEADERS, ...headers }).end();
    return;
  }
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  response.writeHead(status, { ...COMMON_HEADERS, ...headers, "content-length": length });
  if (typeof body === "string") response.end(body, encodingOf(body, length));
  else response.end(body);
}

/** The `close` event reports a connection that breaks during a write. */
function ignore(): void {}
