import { isIPv4, isIPv6 } from "node:net";
import type { Exchange } from "./exchange.ts";
import type { IsTrusted } from "./trusted-proxies.ts";

/** What proxies report about the request they forwarded, not validated. */
export interface Forwarded {
  readonly proto?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly prefix?: string | undefined;
}

/** All headers that are read for this, as in `Vary`. */
export const FORWARDED_HEADERS = "Forwarded, X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix";

/**
 * How the request reached the outermost trusted proxy. Call it only if the direct peer is trusted. `undefined`: no proxy reports anything, or
 * `Forwarded` and `X-Forwarded-*` contradict each other, and so a caller may have forged one of them.
 */
export function forwardedOf(exchange: Exchange, isTrusted: IsTrusted): Forwarded | undefined {
  const standard = outermost(elementsOf(exchange.header("forwarded")), isTrusted);
  const proto = lastOf(exchange.header("x-forwarded-proto"));
  const host = lastOf(exchange.header("x-forwarded-host"));
  const port = lastOf(exchange.header("x-forwarded-port"));
  const prefix = lastOf(exchange.header("x-forwarded-prefix"));
  if (contradict(proto, standard.proto) || contradict(host, standard.host)) return undefined;
  const reported = { proto: proto ?? standard.proto, host: host ?? standard.host, port, prefix };
  return Object.values(reported).some((value) => value !== undefined) ? reported : undefined;
}

/** The address that called the outermost trusted proxy: the right-most one that is not trusted. */
export function clientOf(exchange: Exchange, isTrusted: IsTrusted): string | undefined {
  const peer = exchange.remote;
  const list = exchange.header("x-forwarded-for")?.split(",");
  const addresses = list?.map((entry) => addressOf(entry.trim()));
  const standard = elementsOf(exchange.header("forwarded")).map(({ for: node }) => addressOf(node));
  const byList = rightMostUntrusted(addresses ?? [], isTrusted);
  const byStandard = rightMostUntrusted(standard, isTrusted);
  // As above: contradicting headers may be forged.
  if (contradict(byList, byStandard)) return peer;
  return byList ?? byStandard ?? peer;
}

/** The nearest untrusted address; the furthest if all are trusted. Invalid text ends the search. */
function rightMostUntrusted(addresses: readonly (string | undefined)[], isTrusted: IsTrusted): string | undefined {
  let found: string | undefined;
  for (const address of addresses.toReversed()) {
    if (address === undefined) return found;
    found = address;
    if (!isTrusted(address)) return found;
  }
  return found;
}

function contradict(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase() !== other.toLowerCase();
}

/** The last value of a list: the one that the nearest proxy appended. */
function lastOf(header: string | undefined): string | undefined {
  return header?.slice(header.lastIndexOf(",") + 1).trim();
}

interface Element {
  readonly for?: string;
  readonly host?: string;
  readonly proto?: string;
}

/** The value of the outermost trusted proxy, or of the next one inwards if it reports none. */
function outermost(elements: readonly Element[], isTrusted: IsTrusted): Pick<Element, "host" | "proto"> {
  let index = elements.length - 1;
  while (index > 0 && isTrusted(addressOf(elements[index]?.for))) index--;
  const trusted = elements.slice(Math.max(index, 0));
  const host = trusted.find((element) => element.host !== undefined)?.host;
  const proto = trusted.find((element) => element.proto !== undefined)?.proto;
  return { ...(host !== undefined && { host }), ...(proto !== undefined && { proto }) };
}

const PAIR = /[ \t]*([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))[ \t]*([;,]|$)/iy;

/** The elements of a `Forwarded` header (RFC 7239), oldest first; empty if it is malformed. */
function elementsOf(header: string | undefined): readonly Element[] {
  if (header === undefined) return [];
  const elements: Element[] = [];
  let element: Record<string, string> = {};
  const pair = new RegExp(PAIR);
  for (;;) {
    const [match, name = "", quoted, plain = "", separator] = pair.exec(header) ?? [];
    if (match === undefined) return [];
    const key = name.toLowerCase();
    // A repeated parameter is invalid.
    if (Object.hasOwn(element, key)) return [];
    element[key] = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
    if (separator === ";") continue;
    elements.push(element);
    element = {};
    if (separator === "") return elements;
  }
}

const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

/** The address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`. */
function addressOf(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const [, bracketed, dotted] = WITH_PORT.exec(node) ?? [];
  const address = bracketed ?? dotted ?? node;
  if (bracketed === undefined && isIPv4(address)) return address;
  return isIPv6(address) && !address.includes("%") ? address : undefined;
}
