import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Json } from "./json.ts";
import type { RunningPeer } from "./peer.ts";

/** The response of a scripted server. */
export type Reply =
  | { readonly status: number; readonly json: Json }
  | { readonly status: number; readonly page: string }
  /** Server-sent events, each written unchanged. */
  | { readonly frames: AsyncIterable<string> };

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** Parsed if it is JSON. */
  readonly body: Json;
  /** The server's address. */
  readonly url: string;
  /** Aborts when the caller closes the connection before the response has ended. */
  readonly left: AbortSignal;
}

/** Starts an HTTP server that answers with the function's result. */
export async function serveScript(answer: (asked: Asked) => Reply | Promise<Reply>): Promise<RunningPeer> {
  const server = createServer((request, response) => {
    void respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const controller = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) controller.abort();
    });
    const body = await text(request);
    const { pathname } = new URL(request.url ?? "/", url);
    const { method = "GET", headers } = request;
    const reply = await answer({ method, path: pathname, headers, body: parsed(body), url, left: controller.signal });
    if ("frames" in reply) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      for await (const frame of reply.frames) response.write(frame);
      response.end();
    } else if ("page" in reply) {
      response.writeHead(reply.status, { "content-type": "text/html; charset=utf-8" }).end(reply.page);
    } else {
      response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(reply.json));
    }
  }

  return {
    url,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The response of Express for an unknown route. */
export function noRoute({ method, path }: Asked): Reply {
  const page = `<!DOCTYPE html>\n<html lang="en">\n<body>\n<pre>Cannot ${method} ${path}</pre>\n</body>\n</html>\n`;
  return { status: 404, page };
}

function parsed(body: string): Json {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
