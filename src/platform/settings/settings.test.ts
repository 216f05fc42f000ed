import { describe, expect, it } from "vitest";
import { urlOf } from "../listen-url.ts";
import { type ServerOptions, settingsFrom } from "./settings.ts";

describe("settings", () => {
  it("have a default for everything", () => {
    expect(settingsFrom({}, {})).toEqual({
      port: 3000,
      host: "127.0.0.1",
      publicUrl: undefined,
      trustedProxies: [],
      corsOrigins: [],
      calls: {},
      dialects: {},
      grpc: true,
      mcp: { tools: "skills", taskAfter: 5000, pollInterval: 1000, tasks: {}, callUrls: false },
      store: "sqlite:./.palaver/palaver.db",
      heartbeat: 15_000,
      drainTimeout: 8000,
      timeouts: { head: 10_000, whole: 60_000 },
      outgoing: { http: false, allow: [] },
      observe: { metrics: {}, operator: {}, console: true },
      push: {
        settings: { timeout: 15_000, retries: 3, retryDelay: 1000, maxPerTask: 32 },
        concurrency: { total: 64, perOrigin: 8 },
      },
    });
  });

  it("contain the idempotency window if idempotency is on", () => {
    expect(settingsFrom({}, {}).idempotencyWindow).toBeUndefined();
    expect(settingsFrom({ idempotency: { window: 90_000 } }, {}).idempotencyWindow).toBe(90_000);
    for (const window of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => settingsFrom({ idempotency: { window } }, {})).toThrow(/idempotency\.window/);
    }
  });

  it("take port and host from the environment; options win", () => {
    const env = { PORT: "4500", BIND_HOST: "0.0.0.0" };
    expect(settingsFrom({}, env)).toMatchObject({ port: 4500, host: "0.0.0.0" });
    expect(settingsFrom({ port: 0, host: "::1" }, env)).toMatchObject({ port: 0, host: "::1" });
    expect(settingsFrom({}, { PORT: "", BIND_HOST: "" })).toMatchObject({ port: 3000, host: "127.0.0.1" });
  });

  it("take public URL, proxies, CORS origins and dialects from the environment; options win", () => {
    const env = {
      PUBLIC_URL: "https://agents.example.org/",
      TRUSTED_PROXIES: "loopback, 10.0.0.0/8,",
      CORS_ORIGINS: "https://a.example , https://b.example",
      A2A_CARD: "strict",
      A2A_VERSIONS: "1.0, 0.2",
      A2A_ASSUME_VERSION: "0.2",
    };
    expect(settingsFrom({}, env)).toMatchObject({
      publicUrl: "https://agents.example.org",
      trustedProxies: ["loopback", "10.0.0.0/8"],
      corsOrigins: ["https://a.example", "https://b.example"],
      dialects: { card: "strict", versions: ["1.0", "0.2"], assumeVersion: "0.2" },
    });
    const options = {
      publicUrl: "https://other.example",
      trustedProxies: ["private"],
      corsOrigins: [],
    } as const;
    const dialects = { card: "hybrid", versions: ["0.3"], assumeVersion: "0.3" } as const;
    expect(settingsFrom({ ...options, ...dialects }, env)).toMatchObject({ ...options, dialects });
    const empty = { PUBLIC_URL: "", TRUSTED_PROXIES: "", CORS_ORIGINS: "", A2A_CARD: "", A2A_VERSIONS: "" };
    expect(settingsFrom({}, empty)).toEqual(settingsFrom({}, {}));
  });

  it("pass on the options of dialects", () => {
    const dialects = {
      card: "strict",
      versions: ["0.3", "0.2", "plain"],
      assumeVersion: "0.2",
      lenient: false,
      errorProfile: "1.0.0",
      restMediaType: "application/json",
      restStyle: "json",
      blockingDefault: { "0.3/jsonrpc": "return", "0.3/rest-json": 500 },
    } as const;
    expect(settingsFrom(dialects, {}).dialects).toEqual(dialects);
  });

  it.each([
    [{}, { PORT: "http" }, /port must be a number from 0 to 65535, not "http"/],
    [{ port: 65_536 }, {}, /port/],
    [{ port: 1.5 }, {}, /port/],
    [{ publicUrl: "agents.example.org" }, {}, /public URL must be like/],
    [{ publicUrl: "ftp://example.org" }, {}, /public URL/],
    [{ publicUrl: "https://example.org/?a=1" }, {}, /public URL/],
    [{ durability: "most" }, {}, /durability must be "full" or "process", not "most"/],
    [{ heartbeat: -1 }, {}, /heartbeat must be a number of milliseconds/],
    [{ drainTimeout: Number.NaN }, {}, /drainTimeout/],
    [{}, { PUBLIC_URL: "agents.example.org" }, /public URL must be like/],
    [{ trustedProxies: ["10.0.0.0/99"] }, {}, /"10\.0\.0\.0\/99" is no trusted proxy/],
    [{}, { TRUSTED_PROXIES: "proxy.example" }, /"proxy\.example" is no trusted proxy/],
    [{ corsOrigins: ["app.example.org"] }, {}, /origin must be like https:\/\/app\.example\.org/],
    [{}, { CORS_ORIGINS: "https://a.example/path" }, /origin must be like/],
    [{ card: "both" }, {}, /card must be "hybrid" or "strict", not "both"/],
    [{}, { A2A_CARD: "1.0" }, /A2A_CARD must be one of hybrid, strict/],
    [{ lenient: "yes" }, {}, /lenient must be true or false/],
    [{ errorProfile: "2.0" }, {}, /errorProfile must be "1\.0\.1" or/],
    [{ restMediaType: "text/html" }, {}, /restMediaType must be "application\/a2a\+json" or/],
    [{ restStyle: "xml" }, {}, /restStyle must be "proto" or "json"/],
    [
      { blockingDefault: { grpc: "wait" } },
      {},
      /blockingDefault has the unknown key "grpc"\. Allowed keys: 0\.3\/jsonrpc, /,
    ],
    [{ blockingDefault: { "0.3/jsonrpc": "now" } }, {}, /blockingDefault\["0\.3\/jsonrpc"\] must be "wait"/],
    [{ blockingDefault: { "0.3/jsonrpc": -1 } }, {}, /milliseconds >= 0, not -1/],
    [
      { versions: ["1.0", "2.0"] },
      {},
      /versions contains the unknown version "2\.0"\. Known versions: 1\.0, 0\.3, 0\.2, 0\.1, plain/,
    ],
    [{ versions: [] }, {}, /versions must contain at least one A2A version/],
    [{ versions: ["plain"] }, {}, /versions must contain at least one A2A version/],
    [{ versions: "1.0" }, {}, /versions must be a list, not "1\.0"/],
    [{}, { A2A_VERSIONS: "1.0,v0.3" }, /A2A_VERSIONS must be one of 1\.0, .*plain, not "v0\.3"/],
    [{}, { A2A_VERSIONS: "plain" }, /versions must contain at least one A2A version/],
    [{ assumeVersion: "1.0" }, {}, /assumeVersion must be "0\.3" or "0\.2", not "1\.0"/],
    [{}, { A2A_ASSUME_VERSION: "0.1" }, /A2A_ASSUME_VERSION must be one of 0\.3, 0\.2, not "0\.1"/],
  ])("reject options %o with environment %o", (options, env, message) => {
    const attempt = () => settingsFrom(options as ServerOptions, env);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ name: "StartupError", kind: "usage" }));
  });

  it("keep the path of a public URL and drop its last slash", () => {
    expect(settingsFrom({ publicUrl: "https://example.org/" }, {}).publicUrl).toBe("https://example.org");
    expect(settingsFrom({ publicUrl: "https://example.org/agents/" }, {}).publicUrl).toBe("https://example.org/agents");
  });
});

describe("the URL of an address", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:80"],
    ["0.0.0.0", "http://localhost:80"],
    ["::", "http://localhost:80"],
    ["fe80::1", "http://[fe80::1]:80"],
    ["localhost", "http://localhost:80"],
  ])("for host %s can be opened", (host, url) => {
    expect(urlOf(host, 80)).toBe(url);
  });
});
