import { describe, expect, it } from "vitest";
import { type ServerOptions, settingsFrom, urlOf } from "./settings.ts";

describe("settings", () => {
  it("have a default for everything", () => {
    expect(settingsFrom({}, {})).toEqual({
      port: 3000,
      host: "127.0.0.1",
      publicUrl: undefined,
      store: "sqlite:./.palaver/palaver.db",
      heartbeat: 15_000,
      drainTimeout: 8000,
    });
  });

  it("take port and host from the environment, unless told otherwise", () => {
    const env = { PORT: "4500", BIND_HOST: "0.0.0.0" };
    expect(settingsFrom({}, env)).toMatchObject({ port: 4500, host: "0.0.0.0" });
    expect(settingsFrom({ port: 0, host: "::1" }, env)).toMatchObject({ port: 0, host: "::1" });
    expect(settingsFrom({}, { PORT: "", BIND_HOST: "" })).toMatchObject({ port: 3000, host: "127.0.0.1" });
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
  ])("refuse %o with %o", (options, env, message) => {
    const attempt = () => settingsFrom(options as ServerOptions, env);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ name: "StartupError", kind: "usage" }));
  });

  it("keep a public URL's path and drop its last slash", () => {
    expect(settingsFrom({ publicUrl: "https://example.org/" }, {}).publicUrl).toBe("https://example.org");
    expect(settingsFrom({ publicUrl: "https://example.org/agents/" }, {}).publicUrl).toBe("https://example.org/agents");
  });
});

describe("the URL of an address", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:80"],
    ["0.0.0.0", "http://127.0.0.1:80"],
    ["::", "http://[::1]:80"],
    ["fe80::1", "http://[fe80::1]:80"],
    ["localhost", "http://localhost:80"],
  ])("of %s can be opened", (host, url) => {
    expect(urlOf(host, 80)).toBe(url);
  });
});
