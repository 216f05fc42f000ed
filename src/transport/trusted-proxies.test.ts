import { describe, expect, it } from "vitest";
import { trustedProxies } from "./trusted-proxies.ts";

describe("Trusted proxies", () => {
  it.each([
    [["10.0.0.7"], "10.0.0.7", true],
    [["10.0.0.7"], "10.0.0.8", false],
    [["10.0.0.7"], "::ffff:10.0.0.7", true],
    [["10.1.0.0/16"], "10.1.255.1", true],
    [["10.1.0.0/16"], "10.2.0.1", false],
    [["0.0.0.0/0"], "203.0.113.9", true],
    [["2001:db8::/32"], "2001:db8:1::1", true],
    [["2001:db8::/32"], "2001:db9::1", false],
    [["loopback"], "127.3.2.1", true],
    [["loopback"], "::1", true],
    [["loopback"], "::ffff:127.0.0.1", true],
    [["loopback"], "10.0.0.1", false],
    [["private"], "10.9.9.9", true],
    [["private"], "172.16.0.1", true],
    [["private"], "172.32.0.1", false],
    [["private"], "192.168.7.1", true],
    [["private"], "fd00::1", true],
    [["private"], "127.0.0.1", false],
    [["loopback", "203.0.113.0/24"], "203.0.113.200", true],
    [["private"], "fd00::1%eth0", false],
    [["private"], "not an address", false],
    [["private"], undefined, false],
    [[], "127.0.0.1", false],
  ] as const)("%j and %s: %s", (list, address, expected) => {
    expect(trustedProxies(list)(address)).toBe(expected);
  });

  it.each([
    "",
    "localhost",
    "10.0.0",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "::/129",
    "10.0.0.0/-1",
    "constructor",
  ])("refuse %j as invalid", (item) => {
    expect(() => trustedProxies(["loopback", item])).toThrow(JSON.stringify(item));
  });
});
