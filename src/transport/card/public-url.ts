import { isIPv6 } from "node:net";
import type { Exchange } from "../exchange.ts";
import { clientOf, FORWARDED_HEADERS, type Forwarded, forwardedOf } from "../forwarded.ts";
import { trustedProxies } from "../trusted-proxies.ts";

export interface PublicUrlOptions {
  /** A string is the server's URL, whatever proxies report; a function returns the URL to use if no trusted proxy reports one. */
  readonly publicUrl: string | (() => string);
  /** Trusted proxies, in the syntax of {@link trustedProxies}. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Finds the addresses of a request, behind trusted proxies as well. */
export interface AddressResolver {
  /** The URL under which the caller reaches this server, without a trailing slash. */
  baseUrl(exchange: Exchange): string;
  /** The caller's own network address, if known. */
  remote(exchange: Exchange): string | undefined;
  /** The request headers that `baseUrl` depends on, as in `Vary`; empty if none. */
  readonly vary: string;
}

/** Throws a `TypeError` for an invalid list of proxies. */
export function createAddressResolver({ publicUrl, trustedProxies: list = [] }: PublicUrlOptions): AddressResolver {
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
 * The URL that proxies report; `undefined` if any part of it is invalid. `host` is the request's own `Host`, for proxies that pass it on
 * unchanged and report only the scheme.
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
  // The URL parser reads names such as 0x7f.1 as addresses: accept only names that it leaves unchanged.
  if (url === null || (name !== undefined && url.hostname !== name.toLowerCase())) return undefined;
  return url.origin + prefix.replace(/\/$/, "");
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;
}

/** Ignores the port of a proxy behind the one that terminates TLS: callers use another port. */
function isMistaken(scheme: string, port: string): boolean {
  return (scheme === "https" && port === "80") || (scheme === "http" && port === "443");
}

/** Caches the result of `make` for recent base URLs. Bounded, because callers may invent host names. */
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
