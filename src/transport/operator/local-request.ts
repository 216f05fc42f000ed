import { isIPv4 } from "node:net";
import type { Exchange } from "../exchange.ts";

/** Headers by which proxies say that they forwarded a request. */
const FORWARDING_HEADERS = [
  ...["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"],
  ...["x-forwarded-prefix", "x-forwarded-server", "x-forwarded-by", "x-original-forwarded-for", "x-original-host"],
  ...["x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address", "client-ip"],
  ...["cf-connecting-ip", "true-client-ip", "fastly-client-ip", "fly-client-ip", "x-azure-clientip"],
];

/**
 * Whether a request comes from this machine itself: the peer has a loopback address, `Host` names the machine as itself, and no proxy has forwarded
 * it. A proxy on this machine would make strangers look local, and a name that resolves to 127.0.0.1 (DNS rebinding) would let web pages in.
 */
export function isLocalRequest(exchange: Exchange): boolean {
  return (
    isLoopbackAddress(exchange.remote) &&
    isLoopbackHost(exchange.header("host")) &&
    FORWARDING_HEADERS.every((name) => exchange.header(name) === undefined)
  );
}

/**
 * Whether a web page of another origin, or a page in another site, sent the request. Browsers add these headers, and pages cannot change them.
 * Programs send neither.
 */
export function isFromOtherOrigin(exchange: Exchange): boolean {
  const site = exchange.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  const origin = exchange.header("origin");
  if (origin === undefined) return false;
  const host = exchange.header("host");
  return host === undefined || URL.parse(origin)?.host !== URL.parse(`http://${host}`)?.host;
}

/** 127.0.0.0/8 or ::1, also as an IPv4 address in IPv6. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === "::1") return true;
  const plain = address.toLowerCase().replace(/^::ffff:/, "");
  return isIPv4(plain) && plain.startsWith("127.");
}

const HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** `localhost`, 127.0.0.0/8 or [::1], with or without a port. No other name, however it resolves. */
function isLoopbackHost(host: string | undefined): boolean {
  const [name = ""] = host === undefined || !HOST.test(host) ? [] : [host.replace(/:\d{1,5}$/, "")];
  return name !== "" && (!/^\d/.test(name) || isIPv4(name));
}
