import { isInNetwork, isPublicAddress, type Network, parseNetwork } from "../internal/ip-address.ts";
import { isPrivateName } from "../internal/private-name.ts";
import { withoutTrailing } from "../internal/without-trailing.ts";
import type { OutgoingRules } from "./contract.ts";
import { OutgoingRefused, type RefusalCode } from "./errors.ts";

/** Names for common groups of addresses. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/** Cloud metadata services, which reveal credentials: an allowed name does not allow these addresses. */
const METADATA: readonly Network[] = networks([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "100.100.100.200",
  "::",
  "fe80::/10",
  "fd00:ec2::/32",
]);

/** Names of these services, refused even if networks are allowed. */
const METADATA_NAMES: readonly string[] = ["metadata.google.internal", "metadata", "instance-data"];

/** Ports from 1024 on whose services may interpret an HTTP request as commands, including the ports that browsers block. */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  ...[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ],
  ...[2375, 2379, 3306, 5432, 6379, 10250, 11211, 27017],
]);

const DEFAULT_PORT: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };

/** The parsed rules. Throws a `TypeError` that names an invalid rule. */
export class Rules {
  readonly #http: boolean;
  readonly #ports: ReadonlySet<number> | undefined;
  readonly #hosts = new Set<string>();
  readonly #networks: Network[] = [];

  constructor({ http = false, allow = [], ports }: OutgoingRules = {}) {
    this.#http = http;
    this.#ports = ports === undefined ? undefined : new Set(ports.map(portFrom));
    for (const item of allow) this.#allow(item);
  }

  /** Checks a URL without resolving its name, and returns it normalized. */
  checkUrl(text: string | URL, field?: string): URL {
    const url = URL.parse(String(text));
    const refuse = (code: RefusalCode, reason: string): never => {
      // Only the host: the rest may contain secrets.
      const what = url === null || url.host === "" ? "The address" : `${url.protocol}//${url.host}`;
      throw new OutgoingRefused(code, `${what} is not allowed: ${reason}.`, { field });
    };
    if (url === null || url.hostname === "") return refuse("invalid-url", "it is not a valid web address");
    if (url.protocol === "http:" ? !this.#http : url.protocol !== "https:") {
      return refuse("scheme", url.protocol === "http:" ? "http is not enabled; use https" : "only https is supported");
    }
    if (url.username !== "" || url.password !== "")
      return refuse("credentials", "it contains a user name or a password");
    const hostname = bareHost(url.hostname);
    if (!this.#mayUsePort(url)) return refuse("port", "its port is not allowed");
    if (isPublicAddress(hostname) !== undefined) {
      if (!this.mayReach(hostname, hostname, portOf(url))) {
        return refuse("private-address", "its address is not on the public internet");
      }
    } else if (!this.#mayName(hostname, portOf(url))) {
      return refuse("private-name", "its host name is not on the public internet");
    }
    return url;
  }

  /** True if a connection for this host may go to this address. */
  mayReach(hostname: string, address: string, port: number): boolean {
    if (this.#networks.some((network) => isInNetwork(address, network))) return true;
    const isAllowed = this.#isAllowed(hostname, port);
    if (!isAllowed) return isPublicAddress(address) === true;
    // An address that is listed explicitly is always allowed.
    return hostname === address || !METADATA.some((network) => isInNetwork(address, network));
  }

  /** Adds one item of `allow`. Throws a `TypeError` that quotes it if it is invalid. */
  #allow(item: string): void {
    const text = item.trim().toLowerCase();
    const named = Object.hasOwn(NAMED, text) ? NAMED[text] : undefined;
    if (named !== undefined) {
      this.#networks.push(...networks(named));
      return;
    }
    const network = parseNetwork(text);
    if (network !== undefined) this.#networks.push(network);
    else this.#hosts.add(hostFrom(text, item));
  }

  #isAllowed(hostname: string, port: number): boolean {
    return this.#hosts.has(hostname) || this.#hosts.has(`${hostname}:${port}`);
  }

  #mayUsePort(url: URL): boolean {
    const port = portOf(url);
    if (this.#hosts.has(`${bareHost(url.hostname)}:${port}`)) return true;
    if (this.#ports !== undefined) return this.#ports.has(port);
    return port === DEFAULT_PORT[url.protocol] || (port >= 1024 && !OTHER_SERVICES.has(port));
  }

  #mayName(hostname: string, port: number): boolean {
    if (this.#isAllowed(hostname, port)) return true;
    if (METADATA_NAMES.includes(hostname)) return false;
    // If networks are allowed, internal names may resolve to them: their addresses decide.
    return this.#networks.length > 0 || !isPrivateName(hostname);
  }
}

/** The host without the brackets of an IPv6 address and without a trailing dot. */
export function bareHost(hostname: string): string {
  return withoutTrailing(hostname.replace(/^\[(.*)\]$/, "$1"), ".");
}

/** `URL` leaves out the default port of a scheme. */
export function portOf({ port, protocol }: URL): number {
  return port === "" ? (DEFAULT_PORT[protocol] ?? 0) : Number(port);
}

function networks(list: readonly string[]): readonly Network[] {
  return list.flatMap((text) => parseNetwork(text) ?? []);
}

/** A host with an optional port, normalized by `URL`. */
function hostFrom(text: string, item: string): string {
  // `URL` drops the default port of https, so the port is read from the text.
  const url = /^[^/?#@\s]+$/.test(text) ? URL.parse(`https://${text}`) : null;
  const port = /:(\d{1,5})$/.exec(text)?.[1];
  const isBare = url !== null && url.hostname !== "" && url.pathname === "/";
  if (!isBare || (port === undefined && text.replace(/\[.*\]/, "").includes(":"))) {
    throw new TypeError(
      `${JSON.stringify(item)} is invalid: give a host (hooks.corp), a host and port (10.0.0.7:9000), a network (10.0.0.0/8), loopback or private.`,
    );
  }
  return port === undefined ? bareHost(url.hostname) : `${bareHost(url.hostname)}:${Number(port)}`;
}

function portFrom(port: number): number {
  if (Number.isInteger(port) && port > 0 && port <= 65_535) return port;
  throw new TypeError(`${String(port)} is not a valid port.`);
}
