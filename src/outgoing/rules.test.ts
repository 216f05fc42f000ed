import { describe, expect, it } from "vitest";
import type { OutgoingRules } from "./contract.ts";
import { OutgoingRefused } from "./errors.ts";
import { Rules } from "./rules.ts";

function verdict(url: string, rules?: OutgoingRules): string {
  try {
    new Rules(rules).checkUrl(url);
    return "passes";
  } catch (error) {
    if (!(error instanceof OutgoingRefused)) throw error;
    return error.code;
  }
}

describe("checkUrl()", () => {
  it.each([
    "https://agents.example.org/hooks?token=x",
    "https://agents.example.org:8443/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]:40000/",
    "https://localhost.example.com/",
  ])("allows %s", (url) => {
    expect(verdict(url)).toBe("passes");
  });

  it.each([
    ["", "invalid-url"],
    ["//agents.example.org/", "invalid-url"],
    ["https://", "invalid-url"],
    ["https://1.2.3.4.5/", "invalid-url"],
    ["https://256.1.1.1/", "invalid-url"],
    ["https://[fe80::1%25eth0]/", "invalid-url"],
    ["https://[fe80::1%eth0]/", "invalid-url"],
    ["file:///etc/passwd", "invalid-url"],
    ["javascript:alert(1)", "invalid-url"],
    ["http://agents.example.org/", "scheme"],
    ["ftp://agents.example.org/", "scheme"],
    ["ws://agents.example.org/", "scheme"],
    ["gopher://agents.example.org/_x", "scheme"],
    ["https://user@agents.example.org/", "credentials"],
    ["https://:secret@agents.example.org/", "credentials"],
    ["https://8.8.8.8@127.0.0.1/", "credentials"],
    ["https://agents.example.org:22/", "port"],
    ["https://agents.example.org:25/", "port"],
    ["https://agents.example.org:80/", "port"],
    ["https://agents.example.org:6379/", "port"],
    ["https://agents.example.org:0/", "port"],
    ["https://localhost/", "private-name"],
    ["https://LOCALHOST./", "private-name"],
    ["https://app.localhost/", "private-name"],
    ["https://printer/", "private-name"],
    ["https://db.internal/", "private-name"],
    ["https://nas.local/", "private-name"],
    ["https://metadata.google.internal/", "private-name"],
    ["https://metadata/", "private-name"],
  ])("refuses %s as %s", (url, code) => {
    expect(verdict(url)).toBe(code);
  });

  // Each is 127.0.0.1, 169.254.169.254, 0.0.0.0 or a nearby address in another notation.
  it.each([
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7F.1",
    "127.0.0.1.",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
    "0.0.0.0",
    "0",
    "0x0",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "10.0.0.1",
    "100.64.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
  ])("refuses the address https://%s/", (host) => {
    expect(verdict(`https://${host}/`)).toBe("private-address");
  });

  it("reports the host and the field, but neither path nor query", () => {
    let thrown: unknown;
    try {
      new Rules().checkUrl("https://10.0.0.1/secret/path?token=abc#x", "pushNotificationConfig.url");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      name: "OutgoingRefused",
      code: "private-address",
      field: "pushNotificationConfig.url",
    });
    expect(String(thrown)).toContain("10.0.0.1");
    expect(String(thrown)).not.toMatch(/secret|token|abc/);
  });

  it("does not quote an invalid URL", () => {
    expect(() => new Rules().checkUrl("not a url with a secret")).toThrow(
      "The address is not allowed: it is not a valid web address.",
    );
  });
});

describe("the options allow, http and ports", () => {
  it.each<[string, OutgoingRules, string]>([
    ["http://agents.example.org/", { http: true }, "passes"],
    ["http://agents.example.org:443/", { http: true }, "port"],
    ["http://127.0.0.1:3000/", { http: true }, "private-address"],
    ["http://127.0.0.1:3000/", { allow: ["loopback"] }, "scheme"],
    ["http://127.0.0.1:3000/", { http: true, allow: ["loopback"] }, "passes"],
    ["http://[::1]:3000/", { http: true, allow: ["loopback"] }, "passes"],
    ["http://[::ffff:127.0.0.1]:3000/", { http: true, allow: ["loopback"] }, "passes"],
    ["http://localhost:3000/", { http: true, allow: ["loopback"] }, "passes"],
    ["https://10.2.3.4/", { allow: ["loopback"] }, "private-address"],
    ["https://10.2.3.4/", { allow: ["private"] }, "passes"],
    ["https://169.254.169.254/", { allow: ["private", "loopback"] }, "private-address"],
    ["https://metadata.google.internal/", { allow: ["private", "loopback"] }, "private-name"],
    ["https://10.2.3.4/", { allow: ["10.2.0.0/16"] }, "passes"],
    ["https://10.3.3.4/", { allow: ["10.2.0.0/16"] }, "private-address"],
    ["https://hooks.corp/", { allow: ["Hooks.Corp"] }, "passes"],
    ["https://hooks.corp./", { allow: ["hooks.corp"] }, "passes"],
    ["https://other.corp/", { allow: ["hooks.corp"] }, "private-name"],
    ["https://10.0.0.7:22/", { allow: ["10.0.0.7:22"] }, "passes"],
    ["https://10.0.0.7:9000/", { allow: ["10.0.0.7:22"] }, "private-address"],
    ["https://10.0.0.7/", { allow: ["10.0.0.7:443"] }, "passes"],
    ["https://[fd00::7]:9000/", { allow: ["[fd00::7]:9000"] }, "passes"],
    ["https://agents.example.org:8443/", { ports: [443] }, "port"],
    ["https://agents.example.org:22/", { ports: [22] }, "passes"],
    ["https://agents.example.org/", { ports: [22] }, "port"],
  ])("%s with %j: %s", (url, rules, expected) => {
    expect(verdict(url, rules)).toBe(expected);
  });

  it("allow metadata services only by address, not by host name", () => {
    const named = new Rules({ allow: ["hooks.corp"] });
    expect(named.mayReach("hooks.corp", "10.0.0.7", 443)).toBe(true);
    expect(named.mayReach("hooks.corp", "169.254.169.254", 443)).toBe(false);
    expect(named.mayReach("hooks.corp", "::ffff:169.254.169.254", 443)).toBe(false);
    expect(named.mayReach("hooks.corp", "fe80::1%eth0", 443)).toBe(false);
    expect(new Rules({ allow: ["169.254.169.254"] }).mayReach("hooks.corp", "169.254.169.254", 443)).toBe(true);
  });

  it.each(["", "https://hooks.corp", "hooks.corp/path", "10.0.0.0/40", "a b", "user@host", "host:", "host:99999x"])(
    "is not understood as %j",
    (item) => {
      expect(() => new Rules({ allow: [item] })).toThrow(TypeError);
    },
  );

  it.each([0, 65_536, 1.5, Number.NaN])("refuse %s as a port", (port) => {
    expect(() => new Rules({ ports: [port] })).toThrow(`${port} is not a valid port.`);
  });
});
