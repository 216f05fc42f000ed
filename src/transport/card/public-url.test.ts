import { describe, expect, it } from "vitest";
import type { Exchange } from "../exchange.ts";
import { createAddressResolver, type PublicUrlOptions, perBaseUrl } from "./public-url.ts";

const PROXY = "10.0.0.1";
const STANDARD = "http://localhost:3000";

interface Arrival {
  readonly remote?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

function arrival({ remote = PROXY, headers = {} }: Arrival): Exchange {
  return {
    method: "GET",
    target: "/",
    header: (name) => headers[name],
    body: () => Promise.reject(new Error("There is none.")),
    signal: new AbortController().signal,
    remote,
  };
}

const TRUSTING: PublicUrlOptions = { publicUrl: () => STANDARD, trustedProxies: ["10.0.0.0/8"] };

function baseUrl(headers: Readonly<Record<string, string>>, options: Partial<PublicUrlOptions> = {}): string {
  return createAddressResolver({ ...TRUSTING, ...options }).baseUrl(arrival({ headers }));
}

describe("The base URL", () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [{}, STANDARD],
    [{ host: "agents.example" }, STANDARD],
    [{ "x-forwarded-for": "203.0.113.9" }, STANDARD],
    [{ "x-forwarded-proto": "https", "x-forwarded-host": "agents.example" }, "https://agents.example"],
    [{ "x-forwarded-host": "agents.example" }, "http://agents.example"],
    [{ "x-forwarded-proto": "HTTPS", "x-forwarded-host": "Agents.Example" }, "https://agents.example"],
    [{ "x-forwarded-proto": "https", host: "agents.example" }, "https://agents.example"],
    [{ "x-forwarded-proto": "https", "x-forwarded-host": "a.example:8443" }, "https://a.example:8443"],
    [{ "x-forwarded-proto": "https", "x-forwarded-host": "a.example:443" }, "https://a.example"],
    [
      { "x-forwarded-proto": "https", "x-forwarded-host": "a.example", "x-forwarded-port": "8443" },
      "https://a.example:8443",
    ],
    [
      { "x-forwarded-proto": "https", "x-forwarded-host": "a.example:1", "x-forwarded-port": "2" },
      "https://a.example:1",
    ],
    // The port belongs to a proxy behind the one that terminates TLS.
    [{ "x-forwarded-proto": "https", "x-forwarded-host": "a.example", "x-forwarded-port": "80" }, "https://a.example"],
    [{ "x-forwarded-host": "a.example", "x-forwarded-prefix": "/agents/" }, "http://a.example/agents"],
    [{ "x-forwarded-host": "a.example", "x-forwarded-prefix": "/a/b-c_d.e~f" }, "http://a.example/a/b-c_d.e~f"],
    [{ "x-forwarded-host": "a.example", "x-forwarded-prefix": "/" }, "http://a.example"],
    [{ host: "a.example", "x-forwarded-prefix": "/agents" }, "http://a.example/agents"],
    [{ "x-forwarded-host": "[2001:db8::1]:8080" }, "http://[2001:db8::1]:8080"],
    [{ "x-forwarded-host": "192.0.2.1" }, "http://192.0.2.1"],
    [{ "x-forwarded-host": "my_service:3000" }, "http://my_service:3000"],
    // A proxy appends its value; earlier values may come from the caller.
    [{ "x-forwarded-host": "evil.example, a.example", "x-forwarded-proto": "http,https" }, "https://a.example"],
    [{ forwarded: "for=203.0.113.9;proto=https;host=a.example" }, "https://a.example"],
    [{ forwarded: 'For="[2001:db8::1]:80"; Proto=https; Host="a.example:8443"' }, "https://a.example:8443"],
    [{ forwarded: "proto=https", host: "a.example" }, "https://a.example"],
    [{ forwarded: "host=a.example;proto=https", "x-forwarded-prefix": "/x" }, "https://a.example/x"],
    // The first element may be forged: an untrusted proxy wrote the second.
    [{ forwarded: "host=evil.example, for=203.0.113.9;host=a.example;proto=https" }, "https://a.example"],
    // Trusted proxies wrote both: the outer one knows what the caller requested.
    [
      { forwarded: "for=203.0.113.9;host=a.example;proto=https, for=10.0.0.2;host=inner:3000;proto=http" },
      "https://a.example",
    ],
    [{ forwarded: "for=203.0.113.9, for=10.0.0.2;host=inner:3000" }, "http://inner:3000"],
    [{ forwarded: "host=a.example;proto=https", "x-forwarded-host": "a.example" }, "https://a.example"],
  ])("for %j is %s", (headers, expected) => {
    expect(baseUrl(headers)).toBe(expected);
  });

  it.each<Readonly<Record<string, string>>>([
    { "x-forwarded-proto": "ftp", "x-forwarded-host": "a.example" },
    { "x-forwarded-proto": "https://", "x-forwarded-host": "a.example" },
    { "x-forwarded-proto": "javascript", "x-forwarded-host": "a.example" },
    { "x-forwarded-proto": "https" },
    { "x-forwarded-proto": "", "x-forwarded-host": "a.example" },
    { "x-forwarded-host": "" },
    { "x-forwarded-host": "a.example/path" },
    { "x-forwarded-host": "a.example?x" },
    { "x-forwarded-host": "a.example#x" },
    { "x-forwarded-host": "user@a.example" },
    { "x-forwarded-host": "user:secret@a.example" },
    { "x-forwarded-host": "a.example:0" },
    { "x-forwarded-host": "a.example:65536" },
    { "x-forwarded-host": "a.example:" },
    { "x-forwarded-host": "a example" },
    { "x-forwarded-host": "a.example\r\nset-cookie: a=b" },
    { "x-forwarded-host": 'a.example"' },
    { "x-forwarded-host": "ä.example" },
    { "x-forwarded-host": "%61.example" },
    { "x-forwarded-host": ".example" },
    { "x-forwarded-host": "0x7f.1" },
    { "x-forwarded-host": "2130706433" },
    { "x-forwarded-host": "[::g]" },
    { "x-forwarded-host": "[::1" },
    { "x-forwarded-host": "::1" },
    { "x-forwarded-host": "a".repeat(300) },
    { "x-forwarded-host": "a.example", "x-forwarded-port": "http" },
    { "x-forwarded-host": "a.example", "x-forwarded-port": "99999" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "agents" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "//evil.example" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "/a/../b" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "/." },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "/a?b" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": "/%2e%2e" },
    { "x-forwarded-host": "a.example", "x-forwarded-prefix": `/${"a".repeat(300)}` },
    { forwarded: "host=a.example;host=b.example" },
    { forwarded: "host" },
    { forwarded: 'host="a.example' },
    { forwarded: "host=a.example;;proto=https" },
    { forwarded: "host=a.example, " },
    { forwarded: "host=a.example", "x-forwarded-host": "b.example" },
    { forwarded: "host=a.example;proto=http", "x-forwarded-proto": "https" },
  ])("ignores %j", (headers) => {
    expect(baseUrl(headers)).toBe(STANDARD);
  });

  it("ignores proxies that are not trusted", () => {
    const headers = {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example",
      forwarded: "host=evil.example",
    };
    for (const remote of ["203.0.113.9", undefined]) {
      expect(createAddressResolver(TRUSTING).baseUrl({ ...arrival({ headers }), remote })).toBe(STANDARD);
    }
    expect(baseUrl(headers, { trustedProxies: [] })).toBe(STANDARD);
    expect(baseUrl(headers, { trustedProxies: undefined })).toBe(STANDARD);
  });

  it("is the configured URL, whatever proxies report", () => {
    expect(baseUrl({ "x-forwarded-host": "a.example" }, { publicUrl: "https://configured.example" })).toBe(
      "https://configured.example",
    );
  });

  it("varies by headers only if proxies are trusted and no URL is configured", () => {
    expect(createAddressResolver(TRUSTING).vary).toBe(
      "Forwarded, X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix",
    );
    expect(createAddressResolver({ ...TRUSTING, publicUrl: "https://configured.example" }).vary).toBe("");
    expect(createAddressResolver({ publicUrl: () => STANDARD }).vary).toBe("");
  });
});

describe("The caller's address", () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [{}, PROXY],
    [{ "x-forwarded-for": "203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "203.0.113.9:51000" }, "203.0.113.9"],
    [{ "x-forwarded-for": "2001:db8::1" }, "2001:db8::1"],
    [{ "x-forwarded-for": "[2001:db8::1]:51000" }, "2001:db8::1"],
    [{ "x-forwarded-for": "198.51.100.1, 203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "198.51.100.1, 203.0.113.9, 10.0.0.2, 10.0.0.3" }, "203.0.113.9"],
    [{ "x-forwarded-for": "10.0.0.5, 10.0.0.2" }, "10.0.0.5"],
    [{ "x-forwarded-for": "nonsense" }, PROXY],
    [{ "x-forwarded-for": "nonsense, 203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "203.0.113.9, nonsense, 10.0.0.2" }, "10.0.0.2"],
    [{ "x-forwarded-for": "" }, PROXY],
    [{ forwarded: "for=203.0.113.9;proto=https" }, "203.0.113.9"],
    [{ forwarded: 'for=198.51.100.1, for="[2001:db8::1]:80", for=10.0.0.2' }, "2001:db8::1"],
    [{ forwarded: "for=_hidden" }, PROXY],
    [{ forwarded: "for=unknown, for=10.0.0.2" }, "10.0.0.2"],
    [{ forwarded: "for=203.0.113.9", "x-forwarded-for": "203.0.113.9" }, "203.0.113.9"],
    // One of the two headers is forged, and it is unknown which.
    [{ forwarded: "for=203.0.113.9", "x-forwarded-for": "198.51.100.1" }, PROXY],
  ])("for %j is %s", (headers, expected) => {
    expect(createAddressResolver(TRUSTING).remote(arrival({ headers }))).toBe(expected);
    // The same with a configured public URL.
    expect(createAddressResolver({ ...TRUSTING, publicUrl: "https://a.example" }).remote(arrival({ headers }))).toBe(
      expected,
    );
  });

  it("is the peer's address unless the peer is trusted", () => {
    const headers = { "x-forwarded-for": "198.51.100.1" };
    expect(createAddressResolver(TRUSTING).remote(arrival({ headers, remote: "203.0.113.9" }))).toBe("203.0.113.9");
    expect(createAddressResolver({ publicUrl: STANDARD }).remote(arrival({ headers }))).toBe(PROXY);
  });
});

describe("perBaseUrl()", () => {
  it("creates a value once per URL, and forgets the oldest over its limit", () => {
    const made: string[] = [];
    const get = perBaseUrl((url) => made.push(url), 2);
    for (const url of ["a", "b", "a", "b", "c", "b", "a"]) get(url);
    expect(made).toEqual(["a", "b", "c", "a"]);
  });
});
