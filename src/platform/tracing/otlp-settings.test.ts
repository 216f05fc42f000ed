import { describe, expect, it } from "vitest";
import { otlpSettingsFrom } from "./otlp-settings.ts";

describe("The settings of the trace exporter", () => {
  it("are absent if no collector is named", () => {
    expect(otlpSettingsFrom(undefined, {})).toBeUndefined();
    expect(otlpSettingsFrom(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
  });

  it.each([
    ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"],
    ["https://collector.example/otlp/", "https://collector.example/otlp/v1/traces"],
    ["http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/v1/traces"],
  ])("send to %s as %s", (given, url) => {
    expect(otlpSettingsFrom(given, {})?.url).toBe(url);
    expect(otlpSettingsFrom(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: given })?.url).toBe(url);
  });

  it("use OTEL_EXPORTER_OTLP_TRACES_ENDPOINT as it is; --otlp takes precedence over the environment", () => {
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://h/x", OTEL_EXPORTER_OTLP_ENDPOINT: "http://g" };
    expect(otlpSettingsFrom(undefined, env)?.url).toBe("http://h/x");
    expect(otlpSettingsFrom("http://f", env)?.url).toBe("http://f/v1/traces");
  });

  it("move user and password of the address into a header", () => {
    const settings = otlpSettingsFrom("http://user:pass%20word@h", {});
    expect(settings?.url).toBe("http://h/v1/traces");
    expect(settings?.headers).toEqual({ authorization: `Basic ${btoa("user:pass word")}` });
  });

  it("read headers, service name and resource attributes", () => {
    const settings = otlpSettingsFrom("http://h", {
      OTEL_EXPORTER_OTLP_HEADERS: "X-Key=a%20b, authorization=Bearer t",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=ignored,deployment.environment.name=test",
      OTEL_SERVICE_NAME: "agents",
    });
    expect(settings?.headers).toEqual({ "x-key": "a b", authorization: "Bearer t" });
    expect(settings?.resource).toMatchObject({ "service.name": "agents", "deployment.environment.name": "test" });
  });

  it.each([
    [{}, { ratio: 1, byParent: true }],
    [{ OTEL_TRACES_SAMPLER: "always_off" }, { ratio: 0, byParent: false }],
    [
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
      { ratio: 0.25, byParent: false },
    ],
    [
      { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" },
      { ratio: 0.5, byParent: true },
    ],
  ])("sample by %j", (env, sampler) => {
    expect(otlpSettingsFrom("http://h", env)?.sampler).toEqual(sampler);
  });

  it.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])(
    "are absent with %j, unless --otlp is given",
    (env) => {
      expect(otlpSettingsFrom(undefined, { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://h" })).toBeUndefined();
      expect(otlpSettingsFrom("http://h", env)).toBeDefined();
    },
  );

  it.each([
    ["ftp://h", {}, "must be like http://127.0.0.1:4318"],
    ["http://h", { OTEL_TRACES_SAMPLER: "often" }, "OTEL_TRACES_SAMPLER must be"],
    ["http://h", { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "from 0 to 1, not 2"],
    ["http://h", { OTEL_EXPORTER_OTLP_HEADERS: "x" }, "OTEL_EXPORTER_OTLP_HEADERS must be like"],
    ["http://h", { OTEL_EXPORTER_OTLP_TIMEOUT: "soon" }, "must be a number of milliseconds"],
  ])("refuse %s with %j", (endpoint, env, message) => {
    expect(() => otlpSettingsFrom(endpoint, env)).toThrow(message);
  });
});
