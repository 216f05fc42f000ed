import { describe, expect, it } from "vitest";
import { type Flags, resolveSettings } from "./settings.ts";

const settings = (flags: Flags, env: Readonly<Record<string, string>> = {}) =>
  resolveSettings({ flags, env, files: [] });

describe("settings", () => {
  it("have defaults", () => {
    expect(settings({})).toMatchObject({
      output: "text",
      stream: false,
      wait: undefined,
      pollInterval: 2000,
      timeout: undefined,
    });
  });

  it("take `stream` only from the flag, not from the environment", () => {
    expect(settings({}, { A2ACLI_STREAM: "true" }).stream).toBe(false);
    expect(settings({ stream: true }).stream).toBe(true);
  });

  it.each([
    [{ async: true }, {}, false],
    [{ wait: true }, { A2ACLI_ASYNC: "true" }, true],
    [{ watch: true }, { A2ACLI_ASYNC: "true" }, true],
    [{ wait: false }, {}, false],
    [{ returnImmediately: true }, {}, false],
    [{}, { A2ACLI_ASYNC: "true" }, false],
    [{}, { A2ACLI_ASYNC: "false" }, true],
    [{ async: true }, { A2ACLI_WAIT: "true" }, false],
  ])("take `wait` from the source with the highest precedence: flags %j, environment %j", (flags, env, wait) => {
    expect(settings(flags, env).wait).toBe(wait);
  });

  it("treat an empty variable as unset", () => {
    expect(settings({}, { A2ACLI_OUTPUT: "", A2ACLI_BEARER: "" })).toMatchObject({ output: "text", bearer: undefined });
  });

  it("split lists in variables at commas, and do not split values of repeated flags", () => {
    expect(settings({}, { A2ACLI_TRANSPORT: "rest, jsonrpc" }).transports).toEqual(["rest", "jsonrpc"]);
    expect(settings({ svcParam: ["X-A:1,2", "x-b: c:d"] }).serviceParameters).toEqual({ "x-a": "1,2", "x-b": "c:d" });
  });

  it.each([
    [{ wait: true, async: true }, {}, /--wait and --async/],
    [{ output: "yaml" }, {}, /--output must be text or json/],
    [{}, { A2ACLI_OUTPUT: "yaml" }, /A2ACLI_OUTPUT must be text or json/],
    [{ timeout: "soon" }, {}, /--timeout must be a time/],
    [{ pollInterval: "0" }, {}, /--poll-interval must be a time/],
    [{ metadata: "[1]" }, {}, /--metadata must be a JSON object/],
    [{ svcParam: ["no colon"] }, {}, /--svc-param must be like/],
    [{ svcParam: ["x: a\nb: c"] }, {}, /--svc-param must be like/],
    [{}, { A2ACLI_DEBUG: "maybe" }, /A2ACLI_DEBUG must be true or false/],
  ])("are rejected: flags %j, environment %j", (flags, env, message) => {
    expect(() => settings(flags, env)).toThrow(message);
  });
});
