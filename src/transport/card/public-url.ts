import { isIPv6 } from "node:net";
import type { Exchange } from "../exchange.ts";
import { clientOf, FORWARDED_HEADERS, type Forwarded, forwardedOf } from "../forwarded.ts";
import { trustedProxies } from "../trusted-proxies.ts";

export interface PublicUrlOptions {
  /** A string is where callers reach this server, whatever proxies say; a function gives where they do if none says anything. */
  readonly publicUrl: string | (() => string);
  /** Proxies whose word counts, as {@link trustedProxies} reads them. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** What is known of how a request came here. */
export interface Whereabouts {
  /** Where its caller reaches this server, without a slash at the end. */
  baseUrl(exchange: Exchange): string;
  /** The caller's own network address, where known. */
  remote(exchange: Exchange): string | undefined;
  /** The request headers `baseUrl` depends on, as `Vary` lists them; empty if on none. */
  readonly vary: string;
}

/** Throws a `TypeError` for a list of proxies that makes no sense. */
export function createWhereabouts({ publicUrl, trustedProxies: list = [] }: PublicUrlOptions): Whereabouts {
  const isTrusted = trustedProxies(list);
  const standard = typeof publicUrl === "string" ? () => publicUrl : publicUrl;
  const trustsNobody = list.length === 0;
  if (trustsNobody) return { baseUrl: standard, remote: (exchange) => exchange.remote, vary: "" };
  const isFixed = typeof publicUrl === "string";
  return {
    baseUrl(exchange) {
      if (isFixed || !isTrusted(exchange.remote)) return standard();
      const forwarded = forwardedOf(exchange, isTrusted);
      return (forwarded && baseUrlFrom(forwarded, exchange.header("host"))) ?? standard();
    },
    remote: (exchange) => (isTrusted(exchange.remote) ? clientOf(exchange, isTrusted) : exchange.remote),
    vary: isFixed ? "" : FORWARDED_HEADERS,
  };
}

const AUTHORITY = /^(?:([a-z\d_](?:[a-z\d_.-]{0,251}[a-z\d_])?)|\[([\d:.a-f]{2,45})\])(?::(\d{1,5}))?$/i;
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+){0,16}\/?$/;
const MAX_PREFIX = 256;

/**
 * The URL that proxies describe; `undefined` if any of it is not as it must be. `host` is the request's own `Host`, for
 * proxies that pass it on unchanged and say only the scheme.
 */
export function baseUrlFrom(forwarded: Forwarded, host: string | undefined): string | undefined {
  const scheme = (forwarded.proto ?? "http").toLowerCase();
  const prefix = forwarded.prefix ?? "";
  if (scheme !== "http" && scheme !== "https") return undefined;
  if (prefix.length > MAX_PREFIX || !PREFIX.test(prefix)) return undefined;
  const [match, name, address, ownPort] = AUTHORITY.exec(forwarded.host ?? host ?? "") ?? [];
  if (match === undefined || (address !== undefined && !isIPv6(address))) return undefined;
  const port = ownPort ?? forwarded.port;
  if (port !== undefined && !isPort(port)) return undefined;
  const isTold = port !== undefined && !(ownPort === undefined && isMistaken(scheme, port));
  const url = URL.parse(`${scheme}://${name ?? `[${address}]`}${isTold ? `:${port}` : ""}`);
  // The parser reads names such as 0x7f.1 as addresses: what is not meant literally is not believed.
  if (url === null || (name !== undefined && url.hostname !== name.toLowerCase())) return undefined;
  return url.origin + prefix.replace(/\/$/, "");
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;
}

/** A proxy behind the one that ends TLS tells its own port, which is not the one that callers use. */
function isMistaken(scheme: string, port: string): boolean {
  return (scheme === "https" && port === "80") || (scheme === "http" && port === "443");
}

/** What `make` gives for a base URL, kept for the last so many of them: proxies have few names, but callers may invent some. */
export function perBaseUrl<T>(make: (baseUrl: string) => T, most = 100): (baseUrl: string) => T {
  const made = new Map<string, T>();
  return (baseUrl) => {
    const known = made.get(baseUrl);
    if (known !== undefined) return known;
    const value = make(baseUrl);
    const [oldest] = made.keys();
    if (made.size >= most && oldest !== undefined) made.delete(oldest);
    made.set(baseUrl, value);
    return value;
  };
}
