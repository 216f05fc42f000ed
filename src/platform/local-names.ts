import { isIPv4 } from "node:net";
import type { PortHandlers } from "./listener.ts";

/** HTTP 421: the server was reached by a name that it does not serve (RFC 9110 §15.5.20). */
const REFUSAL = JSON.stringify({
  error: {
    code: 421,
    status: "FAILED_PRECONDITION",
    message:
      "This server accepts requests from this machine only, and not under that host name. To use a name, set the public URL (--public-url) or require authentication.",
  },
});

const HEADERS = { "content-type": "application/json", "x-content-type-options": "nosniff" };

/**
 * Answers only requests for local host names. A server without authentication on the loopback address trusts every caller, but the name of a web page may
 * resolve to 127.0.0.1 (DNS rebinding), and the browser would then let that page call this server.
 */
export function forLocalNames({ http1, http2 }: PortHandlers): PortHandlers {
  // Cache the last host: most requests have the same one.
  let known: string | undefined;
  const isLocal = (host: string | undefined): boolean => {
    if (host !== known && !isLocalName(host)) return false;
    known = host;
    return true;
  };
  return {
    http1: (request, response) => {
      if (isLocal(request.headers.host)) http1(request, response);
      else response.writeHead(421, { ...HEADERS, connection: "close" }).end(REFUSAL);
    },
    http2: (request) => {
      const { stream, headers } = request;
      if (isLocal(headers[":authority"] ?? headers.host)) http2(request);
      else {
        stream.on("error", () => undefined);
        stream.respond({ ":status": 421, ...HEADERS });
        stream.end(REFUSAL);
      }
    },
  };
}

/** Top-level domains that cannot be registered. */
const PRIVATE_ZONE = /\.(?:localhost|internal|local|test|home\.arpa)$/;

/** Whether a `Host` is an address, a name without dots, or a name in a domain that cannot be registered. */
export function isLocalName(host: string | undefined): boolean {
  if (host === undefined || host === "" || host.startsWith("[")) return true;
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  return !name.includes(".") || isIPv4(name) || PRIVATE_ZONE.test(name);
}

/** Whether a server on this host can be reached only from this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
