import type { IncomingMessage, ServerResponse } from "node:http";
import { isIPv4 } from "node:net";

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

const REFUSAL = JSON.stringify({
  error: {
    code: 421,
    status: "FAILED_PRECONDITION",
    message:
      "This server is for this machine alone and is not known by that name. To serve it under a name, give it as the public URL, or say who may call.",
  },
});

const HEADERS = { "content-type": "application/json", "x-content-type-options": "nosniff", connection: "close" };

/**
 * Answers only to names that nobody else can have lead here. A server that listens for this machine alone believes whoever reaches it; but a
 * web page may have its own name resolve to 127.0.0.1, and its reader's browser then takes this server for the page's own.
 */
export function forLocalNames(handler: NodeHandler): NodeHandler {
  // Mostly all requests say the same.
  let known: string | undefined;
  return (request, response) => {
    const { host } = request.headers;
    if (host === known || isLocalName(host)) {
      known = host;
      handler(request, response);
    } else response.writeHead(421, HEADERS).end(REFUSAL);
  };
}

/** Zones that are given to nobody. */
const PRIVATE_ZONE = /\.(?:localhost|internal|local|test|home\.arpa)$/;

/** Whether a `Host` is an address, a name without dots, or one in a zone that no stranger can have a name in. */
export function isLocalName(host: string | undefined): boolean {
  if (host === undefined || host === "" || host.startsWith("[")) return true;
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  return !name.includes(".") || isIPv4(name) || PRIVATE_ZONE.test(name);
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
