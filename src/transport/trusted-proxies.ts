import { BlockList, isIPv4, isIPv6 } from "node:net";

/** True if a network address belongs to a trusted proxy. */
export type IsTrusted = (address: string | undefined) => boolean;

type Family = "ipv4" | "ipv6";
type Subnet = readonly [address: string, prefix: number, family: Family];

/** Names for common groups of addresses. */
const NAMED: Readonly<Record<string, readonly Subnet[]>> = {
  loopback: [
    ["127.0.0.0", 8, "ipv4"],
    ["::1", 128, "ipv6"],
  ],
  private: [
    ["10.0.0.0", 8, "ipv4"],
    ["172.16.0.0", 12, "ipv4"],
    ["192.168.0.0", 16, "ipv4"],
    ["fc00::", 7, "ipv6"],
  ],
};

/**
 * Parses a list of proxies: addresses, subnets such as `10.1.0.0/16`, and the words `loopback` and `private`. Throws a `TypeError` that names
 * an invalid item. An empty list trusts no proxy.
 */
export function trustedProxies(list: readonly string[]): IsTrusted {
  if (list.length === 0) return () => false;
  const trusted = new BlockList();
  for (const item of list) {
    for (const [address, prefix, family] of subnetsOf(item)) trusted.addSubnet(address, prefix, family);
  }
  return (address) => {
    const family = familyOf(address);
    return address !== undefined && family !== undefined && trusted.check(address, family);
  };
}

function subnetsOf(item: string): readonly Subnet[] {
  const named = Object.hasOwn(NAMED, item) ? NAMED[item] : undefined;
  if (named !== undefined) return named;
  const [address = "", prefix, ...rest] = item.split("/");
  const family = familyOf(address);
  const bits = family === "ipv4" ? 32 : 128;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (family === undefined || rest.length > 0 || !(length <= bits)) {
    throw new TypeError(
      `${JSON.stringify(item)} is no trusted proxy: give an address (10.0.0.7), a subnet (10.0.0.0/8), loopback or private.`,
    );
  }
  return [[address, length, family]];
}

function familyOf(address: string | undefined): Family | undefined {
  if (address === undefined) return undefined;
  if (isIPv4(address)) return "ipv4";
  // An address with a zone (fe80::1%eth0) has a meaning only on its own machine.
  return isIPv6(address) && !address.includes("%") ? "ipv6" : undefined;
}
