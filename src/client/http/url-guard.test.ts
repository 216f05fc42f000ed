import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../internal/ip-address.ts";
import { createUrlGuard, type UrlGuardOptions } from "./url-guard.ts";

async function verdict(url: string, options?: UrlGuardOptions): Promise<string> {
  try {
    await createUrlGuard(options)(new URL(url));
    return "passes";
  } catch (error) {
    expect(error).toMatchObject({ name: "RemoteError", code: "blocked-url" });
    return error instanceof Error ? error.message : "";
  }
}

describe("the guard for untrusted URLs", () => {
  it.each([
    "https://agents.example.org/a2a?x=1",
    "https://8.8.8.8/",
    "https://172.32.0.1/",
    "https://[2606:4700::1111]:8443/",
    "https://[::ffff:8.8.8.8]/",
    "https://[64:ff9b::808:808]/",
    "https://localhost.example.com/",
  ])("allows %s", async (url) => {
    expect(await verdict(url)).toBe("passes");
  });

  it.each([
    ["http://agents.example.org/", "not encrypted"],
    ["ftp://agents.example.org/", "not an http or https URL"],
    ["file:///etc/passwd", "not an http or https URL"],
    ["data:application/json,{}", "not an http or https URL"],
    ["https://me:secret@agents.example.org/", "a user or a password"],
    ["https://token@agents.example.org/", "a user or a password"],
    ["https://127.0.0.1/", "not on the public internet"],
    ["https://127.1/", "not on the public internet"],
    ["https://2130706433/", "not on the public internet"],
    ["https://0177.0.0.1/", "not on the public internet"],
    ["https://0x7f.0.0.1/", "not on the public internet"],
    ["https://0x7f000001/", "not on the public internet"],
    ["https://127.0.0.1./", "not on the public internet"],
    ["https://①②⑦.0.0.1/", "not on the public internet"],
    ["https://0/", "not on the public internet"],
    ["https://10.1.2.3/", "not on the public internet"],
    ["https://100.64.0.1/", "not on the public internet"],
    ["https://169.254.169.254/latest/meta-data", "not on the public internet"],
    ["https://172.16.0.1/", "not on the public internet"],
    ["https://172.31.255.255/", "not on the public internet"],
    ["https://192.168.1.1/", "not on the public internet"],
    ["https://198.19.0.1/", "not on the public internet"],
    ["https://224.0.0.1/", "not on the public internet"],
    ["https://255.255.255.255/", "not on the public internet"],
    ["https://[::]/", "not on the public internet"],
    ["https://[::1]/", "not on the public internet"],
    ["https://[0:0:0:0:0:0:0:1]/", "not on the public internet"],
    ["https://[::ffff:127.0.0.1]/", "not on the public internet"],
    ["https://[::ffff:a9fe:a9fe]/", "not on the public internet"],
    ["https://[::127.0.0.1]/", "not on the public internet"],
    ["https://[64:ff9b::10.0.0.1]/", "not on the public internet"],
    ["https://[64:ff9b:1::1]/", "not on the public internet"],
    ["https://[2002:7f00:1::]/", "not on the public internet"],
    ["https://[2001:0:1:2::3]/", "not on the public internet"],
    ["https://[fe80::1]/", "not on the public internet"],
    ["https://[fd00:ec2::254]/", "not on the public internet"],
    ["https://[ff02::1]/", "not on the public internet"],
    ["https://localhost/", "its name"],
    ["https://LOCALHOST./", "its name"],
    ["https://a.localhost/", "its name"],
    ["https://metadata.google.internal/", "its name"],
    ["https://printer.local/", "its name"],
    ["https://metadata/", "its name"],
  ])("refuses %s: %s", async (url, reason) => {
    const reported = await verdict(url);
    expect(reported).toContain(reason);
    expect(reported).not.toMatch(/secret|token|meta-data/);
  });

  it("allows unencrypted URLs with `http` and private hosts with `allow`", async () => {
    expect(await verdict("http://agents.example.org/", { http: true })).toBe("passes");
    expect(await verdict("http://10.0.0.1/", { http: true })).toContain("public internet");
    expect(await verdict("http://localhost:3000/", { allow: ["LOCALHOST:3000"] })).toBe("passes");
    expect(await verdict("http://localhost:3001/", { allow: ["localhost:3000"] })).not.toBe("passes");
    expect(await verdict("http://me:pw@localhost:3000/", { allow: ["localhost:3000"] })).toContain("password");
  });

  it.each([
    [["93.184.216.34", "2606:4700::1"], "passes"],
    [["93.184.216.34", "10.0.0.7"], "its name resolves to"],
    [["fe80::1%eth0"], "its name resolves to"],
    [[], "its name resolves to"],
    [["not an address"], "its name resolves to"],
  ])("checks all addresses of a name with a resolver: %j", async (addresses, expected) => {
    const asked: string[] = [];
    const resolve = async (hostname: string): Promise<readonly string[]> => {
      asked.push(hostname);
      return addresses;
    };
    expect(await verdict("https://Agents.Example.org./", { resolve })).toContain(expected);
    expect(asked).toEqual(["agents.example.org"]);
  });
});

describe("isPublicAddress", () => {
  it.each([
    "agents.example.org",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1:2",
    ":::",
    "1::2::3",
    "g::1",
    "1:2:3:4:5:6:7:8:9",
    "::1.2.3.4:5",
    "",
  ])("does not accept %j as an address", (text) => {
    expect(isPublicAddress(text)).toBeUndefined();
  });
});
