import type { IncomingMessage } from "node:http";
import { A2AError } from "../../protocol/error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, with an optional port. May be empty (RFC 9112 §3.2). */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * The problem of a request that Node accepts although a proxy in front may parse it differently (request smuggling): such a request could
 * reach another host, or hide a second request. `undefined` if the request is safe.
 */
export function requestFault({ headers, httpVersionMinor, rawHeaders }: IncomingMessage): A2AError | undefined {
  // RFC 9112 §3.2: several or invalid Host headers are answered with 400. Node keeps the first.
  if (!HOST.test(headers.host ?? "")) return refusal("The Host header is invalid");
  if (countHosts(rawHeaders) > 1) return refusal("The request has more than one Host header");
  const transferEncoding = headers["transfer-encoding"];
  if (transferEncoding === undefined) return undefined;
  // RFC 9112 §6.1: HTTP/1.0 does not define Transfer-Encoding, so proxies may ignore it.
  if (httpVersionMinor === 0) return refusal("This version of HTTP has no Transfer-Encoding: send a Content-Length");
  return transferEncoding.toLowerCase() === "chunked"
    ? undefined
    : refusal("The only supported Transfer-Encoding is chunked");
}

/** `rawHeaders` alternates names and values. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function refusal(message: string): A2AError {
  return new A2AError("invalid-request", message);
}
