import { describe, expect, it } from "vitest";
import { isInNetwork, parseNetwork } from "./ip-address.ts";

describe("a network", () => {
  it.each([
    ["10.0.0.0/8", "10.255.1.2", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "::ffff:a01:203", true],
    ["10.0.0.0/8", "64:ff9b::10.1.2.3", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.8", false],
    ["192.0.2.128/25", "192.0.2.127", false],
    ["fd00::/8", "fdff::1", true],
    ["fd00::/8", "fe80::1%eth0", false],
    ["::1", "0:0:0:0:0:0:0:1", true],
    ["0.0.0.0/0", "8.8.8.8", true],
    ["0.0.0.0/0", "2606:4700::1", false],
    ["::/0", "2606:4700::1", true],
    ["127.0.0.0/8", "localhost", false],
  ])("%s contains %s: %s", (network, address, expected) => {
    const parsed = parseNetwork(network);
    expect(parsed && isInNetwork(address, parsed)).toBe(expected);
  });

  it.each([
    "10.0.0.0/33",
    "10.0.0/8",
    "::1/129",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "fe80::1%eth0/64",
    "host",
  ])("%s is not a network", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});
